"""The style sheet of Qt's own controls, written from the theme's roles.

It also styles the frame of the window, since a second sheet would make Qt style everything twice.
Custom-painted widgets do not need it, and no rule may be for widgets of every kind: each one of the window
would be styled again wherever it is put, which made a window take a fifth longer to open.
A control declares its look by the dynamic property `role`: buttons `primary`, `link` or `icon`; combo and
spin boxes `link`; labels `title`, `muted`, `token` or `warning`.
"""

from __future__ import annotations

from string import Template

from lmviz.app.look.icons import icon_path
from lmviz.app.look.roles import Theme

TAB_PADDING = 8  # pixels at scale 1 beside the words of a tab; half of it where tabs are crowded
SEPARATOR = 12  # pixels at scale 1 between two panels

_TEMPLATE = Template("""
QPushButton, QToolButton, QCheckBox, QRadioButton, QComboBox, QSlider, QTabBar, QAbstractItemView, QGroupBox {
    outline: none;
}
QMainWindow, QDialog, #panel_window { background: $background; }
QToolTip {
    background: $surface; color: $text; border: 1px solid $line; padding: ${p4}px ${p8}px;
}

QLabel { background: transparent; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="provisional"] { font-weight: 600; color: $muted_text; }
QLabel[role="mark"] {
    font-weight: 600; font-size: ${p12}px; color: $accent; background: $accent_wash; border-radius: ${p8}px;
    min-width: ${p16}px; min-height: ${p16}px; max-height: ${p16}px;
}
QLabel[role="lesson"] { font-weight: 600; font-size: ${p15}px; }
QLabel[role="muted"] { color: $muted_text; font-size: ${p12}px; }
QLabel[role="source"] { font-weight: 600; color: $key; }
QLabel[role="translation"] { font-weight: 600; color: $query; }
QLabel[role="warning"] { color: $warning; font-size: ${p12}px; }

QPushButton, QToolButton {
    background: $surface; color: $text; border: 1px solid $line; border-radius: ${p6}px;
    padding: ${p4}px ${p12}px; min-height: ${p18}px;
}
QPushButton:hover, QToolButton:hover { background: $hover; border-color: $strong_line; }
QPushButton:pressed, QToolButton:pressed { background: $chip; }
QPushButton:focus, QToolButton:focus { border-color: $accent; }
QPushButton:checked, QToolButton:checked { background: $accent_wash; border-color: $accent; }
QPushButton:checked:focus, QToolButton:checked:focus { border-color: $text; }
QPushButton:disabled, QToolButton:disabled { color: $faint_text; background: $background; }
QPushButton[role="primary"] {
    background: $accent; color: $on_accent; border-color: $accent; font-weight: 600;
}
QPushButton[role="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[role="primary"]:focus { border-color: $text; }
QPushButton[role="primary"]:disabled {
    background: $accent_wash; border-color: $accent_wash; color: $muted_text;
}
QPushButton[role="link"], QToolButton[role="link"] {
    background: transparent; border: none; border-radius: ${p4}px; color: $muted_text;
    padding: 0px ${p4}px; font-size: ${p12}px;
}
QPushButton[role="link"]:hover, QToolButton[role="link"]:hover { color: $accent; }
QPushButton[role="link"]:checked, QToolButton[role="link"]:checked {
    color: $accent; text-decoration: underline;
}
QPushButton[role="link"]:focus, QToolButton[role="link"]:focus { background: $accent_wash; }
#zoom_buttons QPushButton { min-width: ${p16}px; min-height: ${p24}px; }
QFileDialog QToolButton { padding: 0px; }
QToolButton[role="icon"] {
    background: transparent; border: 1px solid transparent; padding: ${p3}px; min-height: 0px;
}
QToolButton[role="icon"]:hover { background: $hover; }
QToolButton[role="icon"]:focus { border-color: $accent; }
QToolButton[role="icon"]:checked { background: $accent_wash; }
QToolButton::menu-indicator, QPushButton::menu-indicator {
    image: url("$chevron_down"); width: ${p10}px; height: ${p10}px;
    subcontrol-origin: padding; subcontrol-position: center right; right: ${p4}px;
}
QToolButton[role="link"]::menu-indicator, QPushButton[role="link"]::menu-indicator { right: 0px; }
QToolButton[popupMode="2"], QPushButton[menu="true"] { padding-right: ${p18}px; }

QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox {
    background: $surface; color: $text; border: 1px solid $line; border-radius: ${p6}px;
    padding: ${p3}px ${p8}px; selection-background-color: $accent; selection-color: $on_accent;
}
QPlainTextEdit[readOnly="true"], QTextEdit[readOnly="true"] {
    border-color: transparent; background: transparent; padding: 0px;
}
QLineEdit, QAbstractSpinBox, QComboBox { min-height: ${p18}px; }
QLineEdit[role="search"] { max-width: ${p120}px; }
QLineEdit:hover, QAbstractSpinBox:hover, QComboBox:hover { border-color: $strong_line; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {
    border-color: $accent;
}
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled {
    color: $faint_text; background: $background;
}
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"], QComboBox[invalid="true"] {
    border-color: $warning;
}
QAbstractSpinBox { padding-right: ${p18}px; }
QAbstractSpinBox, QComboBox { max-height: ${p18}px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
    background: transparent; border: none; width: ${p16}px; subcontrol-origin: border;
}
QAbstractSpinBox::up-button { subcontrol-position: top right; margin: ${p3}px ${p3}px 0px 0px; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin: 0px ${p3}px ${p3}px 0px; }
QAbstractSpinBox::up-arrow, QAbstractSpinBox::down-arrow { width: ${p9}px; height: ${p9}px; }
QAbstractSpinBox::up-arrow { image: url("$chevron_up"); }
QAbstractSpinBox::down-arrow { image: url("$chevron_down"); }
QAbstractSpinBox[role="link"] {
    border-color: transparent; padding: 0px ${p2}px 0px ${p3}px; font-weight: 600; min-height: ${p18}px;
}
QAbstractSpinBox[role="link"]:hover { border-color: $line; }
QAbstractSpinBox[role="link"]:focus { border-color: $accent; }
QComboBox::drop-down { border: none; width: ${p20}px; }
QComboBox::down-arrow { image: url("$chevron_down"); width: ${p10}px; height: ${p10}px; }
QComboBox[role="link"] {
    background: transparent; border: none; color: $muted_text; font-size: ${p12}px;
    padding: 0px ${p2}px 0px ${p4}px;
}
QComboBox[role="link"]:hover { color: $accent; }
QComboBox[role="link"]:focus { background: $accent_wash; border-radius: ${p4}px; }
QComboBox[role="link"]::drop-down { width: ${p14}px; }
QComboBox { combobox-popup: 0; }
QComboBox QAbstractItemView {
    background: $surface; border: 1px solid $line; padding: ${p4}px; min-width: ${p100}px;
    selection-background-color: $accent_wash; selection-color: $text;
}
QComboBox QAbstractItemView::item { min-height: ${p24}px; }

QCheckBox, QRadioButton { spacing: ${p8}px; background: transparent; }
QCheckBox::indicator, QRadioButton::indicator {
    width: ${p14}px; height: ${p14}px; border: 1px solid $strong_line; background: $surface;
}
QCheckBox::indicator { border-radius: ${p4}px; }
QRadioButton::indicator { border-radius: ${p7}px; }
QCheckBox::indicator:hover, QRadioButton::indicator:hover { border-color: $accent; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border-color: $accent; }
QCheckBox::indicator:checked, QRadioButton::indicator:checked {
    background: $accent; border-color: $accent; image: url("$check");
}
QCheckBox::indicator:checked:focus, QRadioButton::indicator:checked:focus { border-color: $text; }

QSlider { min-height: ${p20}px; }
QSlider::groove:horizontal { background: $line; height: ${p4}px; border-radius: ${p2}px; }
QSlider::sub-page:horizontal { background: $accent; height: ${p4}px; border-radius: ${p2}px; }
QSlider::handle:horizontal {
    background: $surface; border: ${p3}px solid $accent; width: ${p10}px; height: ${p10}px;
    margin: -${p6}px 0px; border-radius: ${handle_radius}px;
}
QSlider::groove:vertical { background: $line; width: ${p4}px; border-radius: ${p2}px; }
QSlider::add-page:vertical { background: $accent; width: ${p4}px; border-radius: ${p2}px; }
QSlider::handle:vertical {
    background: $surface; border: ${p3}px solid $accent; width: ${p10}px; height: ${p10}px;
    margin: 0px -${p6}px; border-radius: ${handle_radius}px;
}
QSlider:focus { background: $accent_wash; border-radius: ${p6}px; }
QSlider::sub-page:disabled, QSlider::add-page:disabled { background: $strong_line; }
QSlider::handle:disabled { border-color: $strong_line; }

QProgressBar {
    background: $line; border: none; border-radius: ${p2}px; max-height: ${p4}px; color: transparent;
}
QProgressBar::chunk { background: $accent; border-radius: ${p2}px; }

QAbstractItemView {
    background: $surface; color: $text; border: 1px solid transparent; gridline-color: transparent;
    selection-background-color: $accent_wash; selection-color: $text;
}
QAbstractItemView:focus { border-color: $accent; border-radius: ${p4}px; }
QListView::item, QTreeView::item { padding: ${p3}px ${p6}px; border-radius: ${p4}px; }
QAbstractItemView::item:hover { background: $hover; }
QAbstractItemView::item:selected { background: $accent_wash; color: $text; }
QTableView::item { padding: 0px ${p6}px; }
QHeaderView { background: $surface; }
QHeaderView::section {
    background: $surface; color: $muted_text; border: none; border-bottom: 1px solid $line;
    padding: ${p4}px ${p9}px; font-size: ${p12}px;
}
QHeaderView::section:hover { color: $accent; }
QHeaderView::up-arrow { image: url("$chevron_up"); width: ${p9}px; }
QHeaderView::down-arrow { image: url("$chevron_down"); width: ${p9}px; }
QTableCornerButton::section { background: $surface; border: none; }

QMenuBar { background: $surface; border-bottom: 1px solid $line; }
QMenuBar::item { background: transparent; padding: ${p6}px ${p8}px; border-radius: ${p4}px; }
QMenuBar::item:selected { background: $hover; }
QMenu { background: $surface; border: 1px solid $line; padding: ${p4}px; }
#put_away_popup { background: $surface; border: 1px solid $line; }
QMenu::item { padding: ${p6}px ${p24}px ${p6}px ${p12}px; border-radius: ${p4}px; }
QMenu::item:selected { background: $accent_wash; color: $text; }
QMenu::item:disabled { color: $faint_text; }
QMenu::separator { height: 1px; background: $line; margin: ${p4}px ${p8}px; }
QMenu::indicator { width: ${p12}px; height: ${p12}px; left: ${p4}px; }
QMenu::indicator:checked { image: url("$tick"); }
QMenu::right-arrow { image: url("$chevron_right"); width: ${p10}px; height: ${p10}px; }

QScrollBar { background: transparent; border: none; margin: 0px; }
QScrollBar:vertical { width: ${p10}px; }
QScrollBar:horizontal { height: ${p10}px; }
QScrollBar::handle { background: $strong_line; border-radius: ${p3}px; margin: ${p2}px; }
QScrollBar::handle:vertical { min-height: ${p24}px; }
QScrollBar::handle:horizontal { min-width: ${p24}px; }
QScrollBar::handle:hover { background: $muted_text; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {
    background: transparent; border: none; width: 0px; height: 0px;
}
QScrollArea, QScrollArea > #qt_scrollarea_viewport, QGraphicsView { background: transparent; border: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QSizeGrip { image: none; }

QGroupBox {
    border: 1px solid $line; border-radius: ${p6}px; margin-top: ${p18}px; padding: ${p8}px;
    font-weight: 600;
}
QGroupBox::title { subcontrol-origin: margin; left: ${p2}px; }

#frame { background: $background; }
#header, #prefix_bar { background: $surface; border: none; border-bottom: 1px solid $line; }
#transport { background: $surface; border: none; border-top: 1px solid $line; }
#perspective_rail { background: $surface; border: none; border-right: 1px solid $line; }
#header QMenuBar { border: none; }
#qt_menubar_ext_button { border: none; background: transparent; padding: 0; }
#prefix_edit {
    padding-left: ${p10}px; border-radius: ${p8}px; min-height: ${p26}px; font-size: ${p15}px;
}
#surgery_chip QPushButton { color: $changed; font-weight: 600; }
#surgery_chip QPushButton:hover { background: $hover; }
#notice, #welcome_strip { border: 1px solid $strong_line; border-radius: ${p8}px; }
#notice { background: $note_wash; }
#welcome_strip { background: $accent_wash; }
#lesson_frame { background: $surface; border: 1px solid $accent; border-radius: ${p8}px; }
#lesson_question { background: $surface; border: 1px solid $line; border-radius: ${p8}px; }
#lesson_sentence, #lesson_question_words { font-size: ${p14}px; }
#lesson_answer[verdict="right"] { border-color: $right; }
#lesson_answer[verdict="wrong"] { border-color: $warning; }
#lesson_verdict { padding: ${p8}px; border-radius: ${p6}px; background: $chip; }
#lesson_verdict[verdict="right"] { background: $right_wash; }

QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: $line; }
QTabWidget::pane { border: none; }
QTabBar { background: transparent; border: none; qproperty-drawBase: 0; }
QTabBar::tab {
    background: transparent; color: $muted_text; border: none; padding: ${p6}px ${p8}px;
    border-bottom: ${p2}px solid transparent;
}
QTabBar[crowded="true"]::tab { padding-left: ${p4}px; padding-right: ${p4}px; }
QTabBar::tab:disabled { color: $faint_text; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $accent; border-bottom-color: $accent; }
QTabBar:focus { background: $accent_wash; border-radius: ${p4}px; }
#tabs_put_away { margin-bottom: ${p3}px; }
QStatusBar { background: $surface; border-top: 1px solid $line; color: $muted_text; }
QStatusBar::item { border: none; }
QToolBar { background: $surface; border: none; spacing: ${p8}px; padding: ${p4}px; }
""")

_LENGTHS = (2, 3, 4, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24, 26, 100, 120)
_ROLES = (
    "background",
    "surface",
    "line",
    "text",
    "muted_text",
    "faint_text",
    "accent",
    "accent_wash",
    "chip",
    "hover",
    "strong_line",
    "accent_hover",
    "warning",
    "note_wash",
    "right",
    "right_wash",
    "query",
    "key",
)
_CONTROLS = ("chevron_up", "chevron_down", "chevron_right", "check", "tick")


def stylesheet(theme: Theme) -> str:
    """The style sheet for a theme, with all lengths at the theme's scale."""
    values = {f"p{length}": round(length * theme.scale) for length in _LENGTHS}
    # Qt draws a square where a radius exceeds half of the length it rounds.
    values["handle_radius"] = (values["p4"] + 2 * values["p6"]) // 2
    values["separator"] = round(SEPARATOR * theme.scale)
    colors = {role: getattr(theme, role).name() for role in _ROLES}
    colors["changed"] = theme.key.name()
    colors["on_accent"] = theme.on(theme.accent).name()
    icons = {name: icon_path(f"controls/{name}").as_posix() for name in _CONTROLS}
    return _TEMPLATE.substitute(values, **colors, **icons)
