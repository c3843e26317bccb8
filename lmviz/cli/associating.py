"""The command that lets a double click open scenes."""

from __future__ import annotations

import click


@click.command()
@click.option("--remove", is_flag=True, help="Remove the association again.")
def associate(remove: bool) -> int:
    """Let a double click on a scene (*.lmviz) or a bundle (*.lmvizbundle) open it in this lmviz, for your
    account (Linux, Windows)."""
    from lmviz.desktop.association import associate, dissociate

    print(dissociate() if remove else associate())
    return 0
