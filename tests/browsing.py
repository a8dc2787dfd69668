"""A real browser for tests of pages: Debian's chromium, without a window, at any size, light or dark."""

import shutil
from contextlib import contextmanager

import numpy as np
import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]


@contextmanager
def open_browser(profile):
    """A browser with a profile folder of its own, or a skip that says what to install."""
    if not (CHROMIUM and DRIVER):
        pytest.skip("needs Debian's chromium and chromium-driver: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def set_screen(browser, width=1280, height=800, scheme="light", touch=False):
    """Give the browser a screen: its size, its colors, and whether it is touched."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": touch, "maxTouchPoints": 1})
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def column(browser, table, number):
    """The texts of a column of a table."""
    return browser.execute_script(
        "const rows = [...document.querySelector(arguments[0]).tBodies[0].rows];"
        "return rows.map(row => row.cells[arguments[1]].textContent.trim())",
        table,
        number,
    )


def click(browser, table, number):
    """Click on the head of a column, which sorts by it."""
    browser.execute_script(
        "document.querySelector(arguments[0]).tHead.rows[0].cells[arguments[1]].querySelector('button').click()",
        table,
        number,
    )


COLORS = """return arguments[0].map(s => { let e = document.querySelector(s), b = e;
const ink = getComputedStyle(e).color;
while (b && getComputedStyle(b).backgroundColor === 'rgba(0, 0, 0, 0)') b = b.parentElement;
return [s, ink, getComputedStyle(b).backgroundColor] })"""


def contrasts(browser, selectors):
    """The contrast of the text of each of these elements with what is behind it."""
    return {selector: contrast(ink, paper) for selector, ink, paper in browser.execute_script(COLORS, selectors)}


def contrast(*colors):
    """The ratio of luminances that WCAG 2 defines; 4.5 is its level AA for text, 3 for marks."""
    lights = []
    for color in colors:
        rgb = np.array([float(part) for part in color[color.index("(") + 1 : -1].split(",")][:3]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        lights.append(linear @ [0.2126, 0.7152, 0.0722])
    return (max(lights) + 0.05) / (min(lights) + 0.05)
