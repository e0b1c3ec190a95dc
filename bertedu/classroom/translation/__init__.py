"""A chapter in another language: its texts as catalogues of gettext, and the notebooks made from them."""
