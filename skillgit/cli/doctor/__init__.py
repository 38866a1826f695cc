"""What `skillgit doctor` looks at: each check is a function from what was opened to rows.

A new check is a function in one of these modules, and a line in `checkup.CHECKS`.
"""
