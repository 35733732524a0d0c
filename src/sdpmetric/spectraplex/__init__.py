"""The spectraplex ``{M psd, trace M = 1}``: its linear oracle, and factors of its points."""
