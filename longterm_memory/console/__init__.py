"""What the Memory Console's page asks of the memory: typed requests in, plain JSON answers out.

The page cannot read failures that LangBot reports, so nothing here raises: what goes wrong is an answer too,
``{"error": {"code", "text"}}``. A page names a space by its ``space_id``, or by what a person typed into
*Derive*; keys are worked out here and only shown there. What cannot be undone takes two requests: the first
says what would happen and gives a code, the second brings the code back.
"""

from .routing import answer

__all__ = ["answer"]
