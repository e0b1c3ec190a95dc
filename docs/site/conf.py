"""The settings of the website. `make site` copies this folder, adds the generated pages, and runs Sphinx on it."""

from pathlib import Path

import bertedu
from bertedu import address

HERE = Path(__file__).parent

project = "bertedu"
author = "The bertedu authors"
project_copyright = "The bertedu authors. Code: Apache License 2.0, text: CC BY 4.0"
version = release = bertedu.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
    "bertedu.website.extension",
]
exclude_patterns = ["extra", "playground.md", "two_commands.md"]

# Notebooks are shown as they are stored: nothing is executed.
nb_execution_mode = "off"
nb_merge_streams = True
nb_number_source_lines = False
nb_code_prompt_show = "Show the {type}"
nb_code_prompt_hide = "Hide the {type}"
nb_output_stderr = "show"
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["mystnb.unknown_mime_type"]

# Reference.
toc_object_entries = False
default_role = "literal"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True

# The pages.
html_theme = "sphinx_book_theme"
html_title = "bertedu"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_baseurl = address.SITE
html_static_path = ["_static"]
html_extra_path = ["extra"]
html_additional_pages = {"search": "search.html"}
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_last_updated_fmt = None
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_show_sphinx = False
html_theme_options = {
    "home_page_in_toc": False,
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "use_sidenotes": False,
    "navbar_persistent": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "logo": {"text": "bertedu", "alt_text": "bertedu: the front page"},
}
if address.has_address():
    html_theme_options |= {
        "repository_url": address.REPOSITORY,
        "use_repository_button": True,
        "extra_footer": f'<p><a href="{address.issue_url()}">Report a mistake</a></p>',
    }
copybutton_exclude = ".linenos, .gp"
course_facts = (HERE / "course_facts.json").read_text(encoding="utf-8")

# What is shown where somebody shares a page.
ogp_site_url = address.SITE
ogp_site_name = "bertedu: build BERT yourself"
ogp_image = address.page_url("_static/preview.png")
ogp_image_alt = "Build BERT yourself: a masked word, the attention of four layers, and three guesses."
ogp_social_cards = {"enable": False}
ogp_enable_meta_description = True
