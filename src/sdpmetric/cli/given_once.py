"""A command that refuses an option given twice; click would use the last value silently."""

from __future__ import annotations

from collections import Counter

import click


class Command(click.Command):
    """A command whose options are given once, unless they are flags or take several values."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; raise click.UsageError for an option that is given twice."""
        typed = list(args)  # click empties its list
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:  # a shell asks for completions
            _, _, order = self.make_parser(ctx).parse_args(args=typed)
            for param, times in Counter(order).items():
                if times > 1 and takes_one_value(param):
                    name = max(param.opts, key=len)
                    often = "twice" if times == 2 else f"{times} times"
                    raise click.UsageError(f"{name} is given {often}, expected once.", ctx)
        return rest


class CommandGroup(click.Group):
    """A group inside another one, whose commands are `Command`."""

    command_class = Command


def takes_one_value(param: click.Parameter) -> bool:
    """Whether a parameter is an option with one value, and not a flag."""
    return isinstance(param, click.Option) and not (param.multiple or param.is_flag or param.count)
