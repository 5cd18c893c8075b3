"""How the documentation is built: Sphinx, its theme, the gallery. Nothing here reads from a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import docstrings
import look
import pages

import saddlery

project = "saddlery"
author = "The saddlery developers"
copyright = author
version = release = saddlery.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "auto/rooms"]
templates_path = ["_templates"]
default_role = "code"
highlight_language = "python"
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # functions among the settings: everything is built anew

# ---- names from the source

autodoc_typehints = "none"  # docstrings say it
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_class_members_toctree = False

# ---- the gallery

sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto/gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": (look.dress,),
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": False,
    "backreferences_dir": "auto/backreferences",
    "doc_module": ("saddlery",),
    "nested_sections": False,
    "write_computation_times": False,
}

# ---- pages

html_theme = "pydata_sphinx_theme"
html_title = "saddlery"
html_static_path = ["_static"]
html_css_files = ["saddlery.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars: dict[str, list[str]] = {"start": [], "whats-new": []}
html_theme_options = {
    "logo": {"text": "saddlery"},
    "navbar_align": "left",
    "navbar_persistent": [],
    "navbar_end": ["search-button-field", "theme-switcher"],
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "github-dark",
}


def setup(app: Any) -> None:
    """Pages from the source, and docstrings as this theme shows them."""
    pages.write(HERE / "auto")
    docstrings.setup(app)
