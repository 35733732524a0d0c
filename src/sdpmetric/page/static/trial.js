// The trial: three items, one answer. Used by the page of `sdpmetric ask` and by the notebook widget.
//
// Every answer is written to the browser's storage before the next question is shown, and stays
// there until the server has said that it is on the disk.

const PLAY = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M7 4l14 8-14 8z"/></svg>';
const KEYS = { "odd-one-out": ["1", "2", "3"], "2afc": ["ArrowLeft", "ArrowRight"] };
const CAPS = { ArrowLeft: "←", ArrowRight: "→" };
const WORDS = { image: "Picture", audio: "Sound", video: "Film", text: "Text" };
const PATIENCE = 20000; // milliseconds after which a file that does not load is given up

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// The picture, sound, film or text of an item, and a promise that it can be shown.
function loaded(shown, item, url) {
  if (shown === "text") return [element("div", { class: "text" }, item.text), Promise.resolve()];
  const media = document.createElement(shown === "image" ? "img" : shown);
  media.src = url(item.row);
  if (shown === "image") {
    media.alt = ""; // the button around it has the name
    return [media, media.decode()];
  }
  media.preload = "auto";
  if (shown === "video") Object.assign(media, { muted: true, loop: true, playsInline: true });
  const ready = new Promise((resolve, reject) => {
    media.addEventListener("canplaythrough", resolve, { once: true });
    media.addEventListener("error", () => reject(new Error("cannot be loaded")), { once: true });
    media.load();
  });
  return [media, ready];
}

export class TrialView {
  // options: kind, shown, url(row), answer(details), undo()
  constructor(section, options) {
    Object.assign(this, options);
    this.section = section;
    this.question = null;
    this.open = false;
    this.cache = new Map();
    this.note = element("p", { class: "note", role: "status" });
    this.items = element("div", { class: "items" + (this.kind === "2afc" ? " two" : ""), role: "group" });
    this.skip = element("button", { type: "button" }, "Cannot tell ", element("kbd", {}, "0"));
    this.back = element("button", { type: "button" }, "Take back ", element("kbd", {}, "Backspace"));
    this.skip.addEventListener("click", (event) => this.choose(null, event, "pointer"));
    this.back.addEventListener("click", () => this.undo());
    section.append(this.note, this.items, element("div", { class: "actions" }, this.skip, this.back));
    this.visibility = () => this.count();
    document.addEventListener("visibilitychange", this.visibility);
  }

  // Start to load the files of a question that comes later.
  prepare(question) {
    const key = `${question.trial}`;
    if (!this.cache.has(key)) {
      const parts = question.items.map((item) => loaded(this.shown, item, this.url));
      for (const [, ready] of parts) ready.catch(() => {}); // `show` looks at it again
      this.cache.set(key, parts);
    }
    return this.cache.get(key);
  }

  forget(keep) {
    const kept = new Set(keep.map((question) => `${question.trial}`));
    for (const key of this.cache.keys()) if (!kept.has(key)) this.cache.delete(key);
  }

  async show(question, label) {
    this.question = question;
    this.open = false;
    this.items.classList.remove("ready");
    this.note.textContent = question.practice ? "Practice: this answer does not count." : "";
    const parts = this.prepare(question);
    const cards = question.items.map((item, place) => this.card(item, place, parts[place][0]));
    const focused = [...this.items.children].findIndex((card) => card.contains(document.activeElement));
    this.items.setAttribute("aria-label", label);
    this.items.replaceChildren(...cards);
    if (focused >= 0) (cards[focused].matches("button") ? cards[focused] : cards[focused].querySelector(".pick, .sound"))?.focus();
    const slow = setTimeout(() => { this.note.textContent = "Loading …"; }, 600);
    let failed = false;
    const patience = new Promise((_, reject) => setTimeout(reject, PATIENCE, new Error("too slow")));
    try {
      await Promise.race([Promise.all(parts.map(([, ready]) => ready)), patience]);
    } catch { failed = true; }
    clearTimeout(slow);
    if (this.question !== question) return;
    if (failed) this.cache.delete(`${question.trial}`);
    this.note.textContent = failed ? "An item could not be loaded. Choose “Cannot tell” to go on."
      : question.practice ? "Practice: this answer does not count." : "";
    // All items appear in one frame, and time runs from that frame on.
    await new Promise((resolve) => requestAnimationFrame((now) => {
      this.items.classList.add("ready");
      for (const video of this.items.querySelectorAll("video")) video.play().catch(() => {});
      this.began = now;
      resolve();
    }));
    this.hidden = 0;
    this.away = document.hidden ? this.began : null;
    this.failed = failed;
    this.open = true;
  }

  card(item, place, media) {
    const anchor = this.kind === "2afc" && place === 0;
    const number = this.kind === "2afc" ? place : place + 1;
    const key = anchor ? null : KEYS[this.kind][number - 1];
    const name = item.description || (this.shown === "text" ? item.text
      : anchor ? `The first ${WORDS[this.shown].toLowerCase()}` : `${WORDS[this.shown]} ${number}`);
    const cap = key ? element("kbd", { "aria-hidden": "true" }, CAPS[key] || key) : "";
    const shown = element("div", { class: "show" });
    if (this.shown === "audio") {
      const sound = element("button", { type: "button", class: "sound", "aria-label": `Play ${name}` });
      sound.innerHTML = PLAY;
      sound.addEventListener("click", () => this.play(media));
      for (const kind of ["play", "pause", "ended"]) {
        media.addEventListener(kind, () => sound.classList.toggle("playing", !media.paused && !media.ended));
      }
      shown.append(sound, media);
    } else shown.append(media);
    if (anchor) {
      if (this.shown === "image") media.alt = name;
      return element("div", { class: "item anchor" }, shown);
    }
    if (this.shown !== "audio") {
      const card = element("button", { type: "button", class: "item", 
        "aria-label": this.shown === "text" && !item.description ? null : name,
        "aria-keyshortcuts": key }, shown, cap);
      card.addEventListener("click", (event) => this.choose(place, event, event.detail ? "pointer" : "keyboard"));
      return card;
    }
    const pick = element("button", { type: "button", class: "pick", "aria-keyshortcuts": key },
      `Choose ${number}`);
    pick.addEventListener("click", (event) => this.choose(place, event, event.detail ? "pointer" : "keyboard"));
    return element("div", { class: "item choosable", role: "group", "aria-label": name }, shown, pick, cap);
  }

  play(media) {
    for (const other of this.items.querySelectorAll("audio")) if (other !== media) other.pause();
    if (media.paused) { media.currentTime = 0; media.play().catch(() => {}); } else media.pause();
    media.dataset.heard = "yes";
  }

  // Space: the sound of the card that has the focus, else the first that was not heard yet.
  playNext() {
    const sounds = [...this.items.querySelectorAll("audio")];
    const focused = document.activeElement?.closest?.(".item")?.querySelector("audio");
    this.play(focused || sounds.find((sound) => !sound.dataset.heard) || sounds[0]);
  }

  count(now = performance.now()) {
    if (!this.open) return;
    if (document.hidden && this.away === null) this.away = now;
    if (!document.hidden && this.away !== null) { this.hidden += now - this.away; this.away = null; }
  }

  choose(place, event, by) {
    if (!this.open) return;
    if (this.failed && place !== null) return; // what was not seen cannot be chosen
    this.open = false;
    const now = event?.timeStamp || performance.now();
    if (this.away !== null) this.hidden += now - this.away;
    for (const media of this.items.querySelectorAll("audio, video")) media.pause();
    if (place !== null) this.items.children[place].classList.add("chosen");
    this.answer({
      choice: place === null ? null : this.question.items[place].row,
      seconds: Math.max(0, now - this.began) / 1000,
      hidden: this.hidden / 1000,
      by,
    });
  }

  // Returns whether the key meant something.
  key(event) {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "Backspace") { this.undo(); return true; }
    if (event.key === " " && this.shown === "audio" && this.open) { this.playNext(); return true; }
    if (event.key === "0") { this.choose(null, event, "keyboard"); return true; }
    const two = this.kind === "2afc";
    let place = KEYS[this.kind].indexOf(event.key);
    if (place < 0 && two) place = ["1", "2"].indexOf(event.key);
    if (place < 0) return false;
    this.choose(place + (two ? 1 : 0), event, "keyboard");
    return true;
  }

  close() { document.removeEventListener("visibilitychange", this.visibility); }
}

// Events that the server has not confirmed, in the browser's storage where there is one.
export class Outbox {
  constructor(name, storage) {
    this.name = name;
    this.storage = storage;
    this.memory = "[]";
  }
  get entries() {
    try { return JSON.parse(this.storage.getItem(this.name) ?? "[]"); } catch { return JSON.parse(this.memory); }
  }
  set entries(list) {
    this.memory = JSON.stringify(list);
    // Full or forbidden: from here on memory holds them, or reading would find the older list.
    try { this.storage.setItem(this.name, this.memory); } catch { this.storage = null; }
  }
  add(entry) { this.entries = [...this.entries, entry]; }
  confirm(keys) {
    const done = new Set(keys);
    this.entries = this.entries.filter((entry) => !done.has(entry.key));
  }
}

// What the server knows, and on top of it the events that it does not know yet.
export function applied(view, entries) {
  let { questions, history, answered } = view;
  const steps = [...view.steps];
  for (const entry of entries) {
    const is = (question) => question.trial === entry.trial && question.attempt === entry.attempt;
    if (entry.kind === "answer") {
      const question = questions.find(is);
      if (!question) continue;
      questions = questions.filter((other) => other !== question);
      history = [...history, question];
      answered += question.practice ? 0 : 1;
    } else if (entry.kind === "undo") {
      const question = history.find(is);
      if (!question) continue;
      history = history.filter((other) => other !== question);
      questions = [{ ...question, attempt: question.attempt + 1 }, ...questions];
      answered -= question.practice ? 0 : 1;
    } else if (!steps.includes(entry.kind)) steps.push(entry.kind);
  }
  return { ...view, questions, history, answered, steps };
}

class Session {
  constructor(study) {
    this.study = study;
    this.view = null;
    let storage = null;
    try { storage = window.localStorage; } catch { /* cookies are forbidden */ }
    this.outbox = new Outbox(`sdpmetric:${study.path}`, storage);
    this.section = document.querySelector(".trial");
    this.trial = new TrialView(this.section, {
      kind: study.kind, shown: study.shown,
      url: (row) => `${study.path}/media/${row}`,
      answer: (details) => this.answered(details),
      undo: () => this.undo(),
    });
    this.wait = 500;
    addEventListener("online", () => this.send());
    addEventListener("pagehide", () => this.beacon());
    document.addEventListener("keydown", (event) => this.key(event));
    const leave = document.getElementById("leave");
    document.getElementById("withdraw").addEventListener("click", () => leave.showModal());
    leave.addEventListener("close", () => { if (leave.returnValue === "leave") this.withdraw(); });
    this.send();
  }

  get state() { return applied(this.view, this.outbox.entries); }

  post(body, keepalive = false) {
    return fetch(`${this.study.path}/events`, {
      method: "POST", keepalive, headers: { "Content-Type": "application/json" }, body,
    });
  }

  body() { return JSON.stringify({ events: this.outbox.entries.slice(0, 100) }); }

  // Send what waits; one request at a time, again and again until all is confirmed.
  async send() {
    if (this.sending) { this.more = true; return; }
    this.sending = true;
    clearTimeout(this.timer);
    try {
      do {
        this.more = false;
        const reply = await this.post(this.body());
        if (reply.status === 410) { location.reload(); return; }
        if (!reply.ok) throw new Error(await reply.text());
        const view = await reply.json();
        this.view = view;
        this.outbox.confirm([...view.saved, ...view.refused]);
        this.wait = 500;
        this.refresh();
      } while (this.more || this.outbox.entries.length > 0);
    } catch {
      this.wait = Math.min(this.wait * 2, 15000);
      this.timer = setTimeout(() => this.send(), this.wait);
    } finally {
      this.sending = false;
      this.status();
    }
  }

  beacon() { if (this.outbox.entries.length) this.post(this.body(), true).catch(() => {}); }

  answered(details) {
    const { trial, attempt } = this.trial.question;
    this.outbox.add({ key: `answer:${trial}:${attempt}`, kind: "answer", trial, attempt, ...details });
    this.status();
    this.send();
    setTimeout(() => this.refresh(), 140); // long enough to see which item was chosen
  }

  undo() {
    if (!this.view || this.back().disabled) return;
    const last = this.state.history.at(-1);
    if (!last) return;
    const { trial, attempt } = last;
    this.outbox.add({ key: `undo:${trial}:${attempt}`, kind: "undo", trial, attempt });
    this.refresh();
    this.send();
  }

  back() { return this.trial.back; }

  step(kind) {
    this.outbox.add({ key: `step:${kind}`, kind });
    this.refresh();
    this.send();
  }

  key(event) {
    if (document.querySelector("dialog[open]")) return;
    if (this.section.hidden) { // the last answer can be taken back from the last page
      if (event.key === "Backspace" && this.current === "debriefing") { this.undo(); event.preventDefault(); }
    } else if (this.trial.key(event)) event.preventDefault();
  }

  // Show what is next, unless it is shown already.
  refresh() {
    if (!this.view) return;
    const state = this.state;
    this.progress(state);
    const text = (name) => document.getElementById(`text-${name}`);
    const [question] = state.questions;
    const done = (name) => state.steps.includes(name);
    this.back().disabled = state.history.length === 0;
    if (text("consent") && !done("consent")) return this.words("consent", "I agree, go on");
    if (text("instructions") && !done("instructions")) return this.words("instructions", "Continue");
    if (this.study.practice && text("practice") && !done("practice")) return this.words("practice", "Start the practice");
    if (this.study.practice && question && !question.practice && !done("begin")) return this.words("begin", "Begin");
    if (state.answered >= state.target) return this.finish(state);
    if (!question) return this.words("wait", null);
    this.current = null;
    this.section.hidden = false;
    document.querySelector("main > .step").hidden = true;
    const shown = this.trial.question;
    this.trial.forget([question, ...state.questions, ...state.history]);
    if (!shown || shown.trial !== question.trial || shown.attempt !== question.attempt) {
      this.trial.show(question, `Question ${state.answered + 1} of ${state.target}`);
    }
    for (const later of state.questions) this.trial.prepare(later);
  }

  finish(state) {
    this.trial.question = null;
    if (!state.steps.includes("finished")) { this.step("finished"); return; }
    this.words("debriefing", null);
    const { completion } = state; // the server tells it once all answers are stored
    const pending = this.outbox.entries.length > 0;
    const next = document.querySelector(".step .next");
    // Drawn again only if it changes, or a button would vanish under the finger that presses it.
    const shown = JSON.stringify([pending, completion, this.back().disabled]);
    if (next.dataset.shown === shown) return;
    next.dataset.shown = shown;
    next.replaceChildren();
    if (pending) next.append("Your last answers are being saved. Please keep this page open.");
    else if (completion) {
      next.append(element("a", { href: completion, class: "primary", rel: "noreferrer" }, "Finish"));
      if (!document.getElementById("text-debriefing")) location.assign(completion);
    }
    if (!this.back().disabled) {
      const back = element("button", { type: "button", class: "quiet" }, "Take back the last answer");
      back.addEventListener("click", () => this.undo());
      next.append(back);
    }
  }

  words(name, action) {
    this.section.hidden = true;
    const step = document.querySelector("main > .step");
    step.hidden = false;
    if (this.current === name) return;
    this.current = name;
    const own = document.getElementById(`text-${name}`);
    const usual = {
      begin: ["The practice is over", "From now on your answers count."],
      wait: ["One moment", "Waiting for the connection. Your answers are kept."],
      debriefing: ["Thank you", "That was the last question."],
    }[name];
    const words = step.querySelector(".words");
    if (own) words.replaceChildren(own.content.cloneNode(true));
    else words.replaceChildren(element("h1", {}, usual[0]), element("p", {}, usual[1]));
    const next = step.querySelector(".next");
    next.replaceChildren();
    delete next.dataset.shown;
    const heading = words.querySelector("h1, h2, p");
    if (heading) { heading.tabIndex = -1; heading.focus({ preventScroll: true }); }
    if (action) {
      const button = element("button", { type: "button", class: "primary" }, action);
      button.addEventListener("click", () => this.step(name));
      next.append(button);
      button.focus({ preventScroll: true });
    }
    scrollTo(0, 0);
  }

  progress({ answered, target }) {
    const bar = document.querySelector(".progress");
    bar.setAttribute("aria-valuenow", answered);
    bar.setAttribute("aria-valuemax", target);
    bar.firstElementChild.style.width = `${Math.min(100, (100 * answered) / target)}%`;
    document.querySelector(".count").textContent = `${answered} of ${target}`;
  }

  status() {
    const saved = document.querySelector(".saved");
    const waiting = this.outbox.entries.filter((entry) => entry.kind === "answer").length;
    const held = waiting > 0 && !this.sending;
    saved.classList.toggle("waiting", held);
    saved.textContent = held ? `${waiting} not sent yet` : waiting || !this.view?.answered ? "" : "Saved";
    saved.dataset.saved = this.view ? this.view.answered : 0;
    if (this.view && this.state.answered >= this.state.target) this.refresh();
  }

  async withdraw() {
    const reply = await fetch(`${this.study.path}/withdraw`, { method: "POST" }).catch(() => null);
    if (reply?.ok) { this.outbox.entries = []; location.reload(); }
    else document.querySelector(".saved").textContent = "Not withdrawn: no connection";
  }
}

if (typeof document !== "undefined" && document.body?.dataset?.study) {
  window.session = new Session(JSON.parse(document.body.dataset.study));
}

// The notebook widget (anywidget): the same trial, with a kernel instead of a server.
function render({ model, el }) {
  el.classList.add("sdpmetric-ask");
  const study = model.get("study");
  const prompt = element("p", { class: "prompt" }, study.prompt);
  const count = element("p", { class: "note count", role: "status" });
  const section = element("section", { class: "trial", tabindex: "0", "aria-label": study.prompt }, prompt);
  el.append(section);
  let sent = []; // events that the kernel has not confirmed
  const state = () => applied(model.get("view"), sent);
  const send = (entry) => { sent.push(entry); model.send({ events: [entry] }); };
  const trial = new TrialView(section, {
    kind: study.kind, shown: study.shown, url: (row) => model.get("media")[row],
    answer: (details) => {
      const { trial: number, attempt } = trial.question;
      send({ key: `answer:${number}:${attempt}`, kind: "answer", trial: number, attempt, ...details });
      setTimeout(refresh, 140);
    },
    undo: () => {
      const last = state().history.at(-1);
      if (!last) return;
      const { trial: number, attempt } = last;
      send({ key: `undo:${number}:${attempt}`, kind: "undo", trial: number, attempt });
      refresh();
    },
  });
  section.append(count);
  function refresh() {
    const { questions, history, answered, target } = state();
    count.textContent = `${answered} of ${target}`;
    trial.back.disabled = history.length === 0;
    const [question] = questions;
    const done = answered >= target;
    trial.items.hidden = trial.skip.hidden = done;
    prompt.textContent = done ? "Thank you. That was the last question." : study.prompt;
    if (done) { trial.question = null; trial.open = false; return; }
    if (!question || question.items.some((item) => study.shown !== "text" && !model.get("media")[item.row])) return;
    const shown = trial.question;
    if (!shown || shown.trial !== question.trial || shown.attempt !== question.attempt) {
      trial.show(question, `Question ${answered + 1} of ${target}`);
    }
  }
  section.addEventListener("keydown", (event) => {
    // The notebook's own keys must not hear this: 0 twice would restart the kernel.
    if (trial.key(event)) { event.preventDefault(); event.stopPropagation(); }
  });
  const changed = () => {
    const { saved, refused } = model.get("view");
    const done = new Set([...saved, ...refused]);
    sent = sent.filter((entry) => !done.has(entry.key));
    refresh();
  };
  model.on("change:view", changed);
  refresh();
  return () => { model.off("change:view", changed); trial.close(); };
}

export default { render };
