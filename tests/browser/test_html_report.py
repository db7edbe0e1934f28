"""Opens the HTML report in headless Chromium: test_html_report.py MAKE_SAMPLE_REPORT PAGE_SOURCES OUTPUT"""

import math
import pathlib
import struct
import subprocess
import sys
import unittest

from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"
MAKE_SAMPLE, SOURCES, OUTPUT = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
HOSTILE = "</script><img src=x onerror=\"alert(1)\">&amp;'\"`"
MARK = "#slot-map .map .slot.class-missing"

LOOKS = [("seed", "light", 1280), ("seed", "dark", 1280), ("seed", "light", 400), ("seed", "dark", 400),
         ("hostile", "light", 400), ("hostile", "dark", 1280), ("interrupted", "light", 1280),
         ("interrupted", "dark", 400), ("agreed", "light", 1280), ("agreed", "dark", 400)]
OPEN_ALL = "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"

# Every element that shows text of its own, with the contrast of that text on what lies behind it.
CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = (colour) => {
    const [r, g, b] = Array.from(rgba(colour)).slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (rgba(colour)[3] === 255) return colour;
    }
    return 'white';
  };
  const low = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.closest('script, noscript, svg, :disabled, .skip') || !element.checkVisibility()) continue;
    const [text, ground] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className}: ${element.textContent.slice(0, 30)}`);
  }
  return low;
}"""

# Elements whose content is wider than they are, or that stand beyond the page's right edge.
CUT_OFF = """() => [...document.querySelectorAll('body *')].filter((element) => {
  if (!element.checkVisibility() || element.closest('.unseen, .skip, script, svg')) return false;
  const scrolls = ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
  const wide = element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1 && !scrolls;
  const beyond = element.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
  return wide || (beyond && !element.closest('.hex, .values'));
}).map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 40)}`)"""


class HtmlReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([MAKE_SAMPLE, OUTPUT], check=True)
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()

    maxDiff = None

    def open(self, name, width=1280, theme="light", fragment=""):
        context = self.browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.addCleanup(context.close)
        page = context.new_page()
        self.problems, self.requests = [], []
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: (self.problems.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(f"file://{OUTPUT / name}.html{fragment}")
        page.wait_for_selector("#summary")
        return page

    def assert_quiet(self, name, fragment=""):
        self.assertEqual(self.problems, [])
        self.assertEqual(self.requests, [f"file://{OUTPUT / name}.html{fragment}"])

    def test_first_screen_answers_what_where_why_and_what_now(self):
        page = self.open("seed")
        first = page.locator("#summary")
        for words in ["Diverged", "The cache write is not in the graph", "elided-write", "confirmed", "Fix",
                      "refilled in place", "The row that proves it", "layer 1 index-key", "page 32, slot 126",
                      "expected (eager)", "nobody wrote it"]:
            self.assertIn(words, first.inner_text())
        self.assertLess(first.bounding_box()["y"] + first.bounding_box()["height"], 900)
        self.assertIn("claims nothing about any GPU", page.locator(".banner.simulation").inner_text())
        self.assertEqual(page.locator(".banner.incomplete").count(), 0)
        self.assert_quiet("seed")

    def test_a_click_on_a_bad_slot_shows_the_bytes_of_both_arms(self):
        page = self.open("seed")
        cell = page.locator(MARK).nth(5)
        row = int(cell.get_attribute("data-row"))
        cell.click()
        detail = page.locator("#slot-detail")
        self.assertIn(f"page {row // 128}, slot {row % 128}", detail.inner_text())
        self.assertEqual(cell.get_attribute("aria-selected"), "true")
        lines = detail.locator(".hex-line code").all_inner_texts()
        eager, graph = (" ".join(lines[arm::2]).split() for arm in (0, 1))
        self.assertEqual((len(eager), len(graph)), (128, 128))
        self.assertEqual(graph[:3], [f"{0x11 + (row * 7 + i * 13) % 96:02x}" for i in range(3)])
        shown = detail.locator(".values tbody tr").first.locator("td").last.inner_text()
        expected = struct.unpack("<e", bytes([0, int(graph[0], 16)]))[0]
        self.assertAlmostEqual(float(shown), expected, delta=abs(expected) * 1e-3)
        for words in ["XXH3-64 eager", "owner", "reshape_and_cache_flash_kernel", "layer 1 / insert"]:
            self.assertIn(words, detail.inner_text())
        self.assert_quiet("seed")

    def test_the_proof_leads_to_its_slot(self):
        page = self.open("seed")
        page.locator("#show-proof").click()
        self.assertEqual(self.focused(page), (4, 32 * 128 + 126))
        self.assertEqual(page.locator("#slot-map .slot[aria-selected]").count(), 1)
        self.assertIn("layer 1 index-key", page.locator("#slot-detail h4").inner_text())
        self.assertEqual(self.problems, [])

    def test_decoding_is_exact_for_every_code(self):
        page = self.open("agreed")
        source = (SOURCES / "js" / "decode.js").read_text()
        codes = page.evaluate(f"() => {{ {source}; const all = [...Array(256).keys()];"
                              " return [all.map(decodeE4m3), all.map(decodeE5m2),"
                              " [...Array(65536).keys()].map(decodeBf16)]; }")
        for code in range(256):
            self.assert_same(codes[0][code], e4m3(code))
            self.assert_same(codes[1][code], struct.unpack("<e", bytes([0, code]))[0])
        for bits in range(65536):
            self.assert_same(codes[2][bits], struct.unpack("<f", struct.pack("<I", bits << 16))[0])

    def assert_same(self, shown, expected):
        if math.isnan(expected):
            self.assertTrue(math.isnan(float(shown)))
        else:
            self.assertEqual(float(shown), expected)
            self.assertEqual(math.copysign(1, shown), math.copysign(1, expected))

    def test_the_map_is_usable_by_keyboard(self):
        page = self.open("seed")
        page.locator("#slot-map .slot[tabindex='0']").focus()
        start = self.focused(page)
        for key, step in [("ArrowRight", 1), ("ArrowLeft", 0), ("ArrowUp", -32), ("ArrowDown", 0)]:
            page.keyboard.press(key)
            self.assertEqual(self.focused(page), (start[0], start[1] + step), key)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        row = start[1] + 1
        self.assertIn(f"page {row // 128}, slot {row % 128}", page.locator("#slot-detail h4").inner_text())
        self.assertEqual(page.locator("#slot-map .slot[tabindex='0']").count(), 1)
        self.assert_quiet("seed")

    def focused(self, page):
        return tuple(page.evaluate("() => [Number(document.activeElement.dataset.cache), Number(document.activeElement.dataset.row)]"))

    def test_filters_by_class_layer_and_step(self):
        page = self.open("seed")
        before = page.locator(MARK).count()
        page.get_by_role("button", name="missing", exact=True).click()
        self.assertEqual(page.locator(MARK).count(), 0)
        page.get_by_role("button", name="missing", exact=True).click()
        page.get_by_role("combobox", name="Step").select_option("0")
        self.assertEqual(page.locator(MARK).count() * 4, before)
        page.get_by_role("combobox", name="Layer").select_option("0")
        self.assertEqual(page.locator("#slot-map .cache").count(), 2)
        self.assert_quiet("seed")

    def test_a_cell_of_the_matrix_opens_its_case(self):
        page = self.open("seed")
        page.locator(".case-cell", has_text="failed").click()
        self.assertIn("killed by signal 9", page.locator("#case .reason").inner_text())
        page.locator(".case-cell", has_text="padding-write").first.click()
        self.assertIn("A pad lane writes index-K at slot -1", page.locator("#findings").inner_text())
        self.assertIn("the pool's last row, a row of a live sequence", page.locator("#slot-detail").inner_text())
        self.assertEqual(page.locator(".case-cell[aria-current]").count(), 1)
        self.assertTrue(page.url.endswith("#case-10"), page.url)
        self.assertEqual(self.problems, [])

    def test_every_panel_says_its_piece(self):
        page = self.open("seed")
        for panel, words in {
            "chain": "First broken link: index-K write", "top-k": "a symptom, not an excuse",
            "outputs": "the cache is to blame", "launches": "run by an eager break", "ruled-out": "numeric-noise",
            "experiments": "not runnable", "steps": "two eager runs agree bit for bit", "notes": "Not covered",
            "budget": "normal for fp8_e5m2", "capacity": "tokens that fit", "timing": "say nothing about a GPU",
            "limits": "One rank only", "reproduce": "--scenario seed", "environment": "Debian",
        }.items():
            self.assertIn(words, page.locator(f"#{panel}").inner_text(), panel)
        line = page.locator(".launch", has_text="index_put_kernel")
        line.locator("summary").click()
        line.get_by_text("layer 1 index-key (named-buffer)").wait_for()
        self.assert_quiet("seed")

    def test_the_command_can_be_copied(self):
        page = self.open("seed")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.locator("#reproduce .copy").click()
        page.locator("#reproduce .copy", has_text="Copied").wait_for()
        self.assertEqual(page.evaluate("navigator.clipboard.readText()"), page.locator("#reproduce code").inner_text())
        self.assert_quiet("seed")

    def test_markup_in_names_is_shown_as_text(self):
        page = self.open("hostile")
        self.assertEqual(page.locator("img").count(), 0)
        for place in ["#summary .cause", "#findings", "#launches", "#slot-map", "#reproduce", "#environment", "#top"]:
            self.assertIn(HOSTILE, page.locator(place).inner_text(), place)
        self.assert_quiet("hostile")

    def test_no_other_script_can_run_in_the_page(self):
        page = self.open("seed")
        page.evaluate("""() => {
          const script = document.createElement('script');
          script.textContent = 'window.intruder = true;';
          document.body.append(script);
        }""")
        self.assertIsNone(page.evaluate("window.intruder"))
        self.assertIn("Content Security Policy", "".join(self.problems))

    def test_the_contrast_check_sees_low_contrast(self):
        page = self.open("agreed")
        page.evaluate("() => { document.querySelector('.cause').style.color = '#999'; }")
        self.assertEqual(len(page.evaluate(CONTRAST)), 1)

    def test_an_incomplete_run_says_so_first(self):
        page = self.open("interrupted")
        banner = page.locator(".banner.incomplete")
        self.assertIn("incomplete", banner.inner_text())
        self.assertIn("SIGINT", banner.inner_text())
        self.assertLess(banner.bounding_box()["y"], page.locator("#summary").bounding_box()["y"])
        self.assert_quiet("interrupted")

    def test_a_clean_run_on_a_gpu_claims_no_simulation(self):
        page = self.open("agreed")
        self.assertEqual(page.locator(".banner").count(), 0)
        self.assertIn("512,000", page.locator("#summary").inner_text())
        self.assert_quiet("agreed")

    def test_a_million_rows_open_fast_and_say_what_is_not_listed(self):
        page = self.open("large")
        drawn = page.evaluate("performance.now()")
        self.assertLess(drawn, 3000)
        self.assertIn("touched pages not drawn", page.locator("#slot-map").inner_text())
        page.get_by_role("spinbutton", name="Page").fill("7000")
        page.get_by_role("spinbutton", name="Page").press("Enter")
        page.locator(MARK).first.click()
        self.assertIn("not among those whose digests and bytes are listed", page.locator("#slot-detail").inner_text())
        self.assert_quiet("large")

    def test_the_theme_follows_the_system_and_the_button(self):
        page = self.open("seed", theme="dark")
        colour = "() => getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(colour)
        page.locator("#theme").click()
        light = page.evaluate(colour)
        self.assertNotEqual(dark, light)
        self.assertEqual(self.open("seed", theme="light").evaluate(colour), light)

    def test_text_has_contrast_and_nothing_is_cut_off(self):
        for name, theme, width in LOOKS:
            with self.subTest(page=name, theme=theme, width=width):
                page = self.open(name, width, theme)
                page.evaluate(OPEN_ALL)
                page.wait_for_timeout(100)
                self.assertEqual(page.evaluate(CONTRAST), [])
                self.assertEqual(page.evaluate(CUT_OFF), [])
                page.screenshot(path=OUTPUT / f"{name}-{theme}-{width}.png", full_page=True)

    def test_it_prints(self):
        page = self.open("seed")
        self.assertGreater(len(page.pdf(path=OUTPUT / "seed.pdf")), 10000)


def e4m3(code):
    sign, exponent, mantissa = (-1.0 if code & 0x80 else 1.0), code >> 3 & 15, code & 7
    if exponent == 15 and mantissa == 7:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, -9)
    return sign * math.ldexp(8 + mantissa, exponent - 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
