"""Git hooks: which are shipped, where they can stand beside what is there, and what they do.

All of them are optional: nothing else may rely on one having run. A hook of somebody else is never
overwritten and never called by ours.
"""
