"""A room for each chapter, with all that the chapter is: README.md says how to write one."""
