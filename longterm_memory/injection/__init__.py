"""What the model is shown: fences around people's text, and the two blocks made of them."""

from .blocks import episode_legend, render_episode, render_episode_block, render_profile_block
from .fences import fence, inline, neutralize

__all__ = [
    "episode_legend",
    "fence",
    "inline",
    "neutralize",
    "render_episode",
    "render_episode_block",
    "render_profile_block",
]
