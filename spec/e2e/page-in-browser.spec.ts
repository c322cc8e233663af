import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import type { Part } from '../../lib/chat/message.js';
import { type Browser, faultsOf, hasChromium, openBrowser } from '../support/browser.js';
import { zstd } from '../support/history.js';
import { message } from '../support/pages.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { itWhere } from '../support/where.js';

const itInChromium = itWhere(hasChromium, 'no Chromium');
const homes: Home[] = [];
let browser: Browser;

beforeAll(async () => {
  if (hasChromium) browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  for (const home of homes) home.remove();
});

/** The page that the program makes of a history. */
async function pageFile(entries: readonly unknown[]): Promise<string> {
  const home = makeHome(null);
  homes.push(home);
  mkdirSync(home.data, { mode: 0o700 });
  writeFileSync(home.historyFile, zstd(Buffer.from(JSON.stringify(entries))));
  const run = await runProgram(home, ['history', '--html', 'page.html']);
  expect(run).toMatchObject({ status: 0 });
  return join(home.work, 'page.html');
}

const ATTACKS = [
  '<script>window.hacked = 1; alert(1)</script>',
  '</noscript></script></style><img src="https://a.example/x" onerror="window.hacked = 1">',
  '"><svg onload="window.hacked = 1"></svg><iframe src="https://a.example/"></iframe>',
  '![x](https://a.example/tracker.png) ![y](//a.example/y) <link rel=stylesheet href=https://a.example/z>',
  '[click](javascript:window.hacked=1) <javascript:window.hacked=1> [data](data:text/html,<script>1</script>)',
  '<meta http-equiv="refresh" content="0;url=https://a.example/"><base href="https://a.example/">',
  '```"><script>window.hacked = 1</script>\n</code></pre><script>window.hacked = 1</script>\n```',
  '&lt;script&gt;window.hacked = 1&lt;/script&gt; &#60;img src=x onerror=window.hacked=1&#62;',
  '$\\href{javascript:window.hacked=1}{x}$ $$\\text{<img src=x onerror=window.hacked=1>}\\color{red}x$$',
  '<details open ontoggle="window.hacked=1"><form action=https://a.example/><input autofocus onfocus="window.hacked=1">',
];

/** Everything a page can hold, said in attacks. */
function hostileHistory(): readonly Entry[] {
  return ATTACKS.flatMap((attack, place) => {
    const id = 10 * place + 1;
    const call: Part = { type: 'tool_call', call_id: attack, name: attack, args: { [attack]: attack } };
    const result: Part = { type: 'tool_result', call_id: attack, name: attack, result: { [attack]: attack } };
    const image: Part = { type: 'image', mime: attack, sha256: '0'.repeat(64), bytes: 1, name: attack };
    const sources = [{ url: `https://a.example/"${place}><b>`, title: attack }];
    return [
      message(id, 'user', [image, { type: 'text', text: attack }]),
      message(id + 1, 'assistant', `${attack}\n\n# ${attack}\n\n- ${attack}`, { turn: id, model: attack, sources }),
      message(id + 2, 'assistant', [call], { turn: id }),
      message(id + 3, 'tool', [result], { turn: id }),
      ...Array.from({ length: 12 }, (_, more) => message(id + 4 + more * 1000, 'user', attack)),
    ];
  });
}

const ANSWER = `# Title\n\n### Deep\n\nText with \`code\`, **bold**, [a link](https://a.example/) and \\(x_1\\).

$$\\begin{aligned} a &= \\boxed{\\frac{b}{c}} \\\\ d &= ${'e + '.repeat(60)} f \\end{aligned}$$

| a | b |
|:--|--:|
| 1 | 2 |

> quote

\`\`\`python
def backwards(xs: list[int]) -> list[int]:  # a comment
    return [x for x in reversed(xs) if x is not None and "text" != ${'x'.repeat(90)}]
\`\`\`

\`\`\`diff
- old
+ new
\`\`\`

شكرا جزيلا`;

/** A history with everything that is shown in a way of its own. */
function richHistory(): readonly unknown[] {
  const call: Part = { type: 'tool_call', call_id: 'a', name: 'bash', args: { command: 'ls' } };
  const failure: Part = { type: 'tool_result', call_id: 'a', name: 'bash', error: 'No.' };
  return [
    message(1, 'user', '<file name="notes.txt">\nfolded words\n</file>'),
    message(2, 'assistant', ANSWER, { turn: 1, sources: [{ url: 'https://a.example/', title: 'Source' }] }),
    message(3, 'assistant', [call], { turn: 1 }),
    message(4, 'tool', [failure], { turn: 1 }),
    message(5, 'user', 'I ran this command myself: ls\n\n<output>\ntotal 0\n</output>'),
    message(6, 'assistant', 'half', { turn: 5, stop_reason: 'interrupted' }),
    { type: 'undo', id: 7, at: '2026-11-22T09:30:00.000Z', turns: [5] },
  ];
}

/** Days of two messages, of which one has a word of its own. */
const longHistory = (messages: number): readonly Entry[] =>
  Array.from({ length: messages }, (_, place) => {
    const at = new Date(Date.parse('2024-01-01T12:00:00Z') + Math.floor(place / 20) * 86_400_000).toISOString();
    const text =
      place % 2 === 0
        ? `question ${place}`
        : `Answer **number** ${place}:\n\n- one\n- two\n\n\`\`\`js\nlet a = ${place};\n\`\`\``;
    return message(place + 1, place % 2 === 0 ? 'user' : 'assistant', text, { turn: place + 1 - (place % 2), at });
  });

describe('the exported page in Chromium', () => {
  itInChromium('has no fault that axe-core finds, in both themes, and switches between them', async () => {
    const file = await pageFile(richHistory());
    for (const theme of ['light', 'dark'] as const) {
      const { page, offences } = await browser.open(file, theme);
      const ground = async (): Promise<string> =>
        await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
      const before = await ground();
      expect(before).toBe(theme === 'light' ? 'rgb(252, 252, 250)' : 'rgb(22, 24, 28)');
      expect(await faultsOf(page)).toEqual([]);
      await page.click('#theme');
      expect(await ground()).not.toBe(before);
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.locator('.undone').count()).toBe(2);
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.locator('pre.code .copy').last().click();
      await page.locator('.copy.done').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('- old\n+ new');
      expect(offences).toEqual([]);
    }
  });

  itInChromium('runs and requests nothing, whatever the conversation contains', async () => {
    const { page, offences } = await browser.open(await pageFile(hostileHistory()), 'light');
    await page.fill('#search', 'hacked');
    await page.locator('#found', { hasText: /^1 of/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.fill('#search', '');
    // Every part has become elements.
    await page.locator('noscript').first().waitFor({ state: 'detached' });
    const links: unknown = await page.evaluate(
      '[...document.querySelectorAll(".body a")].map((link) => link.protocol + link.host)',
    );
    expect([...new Set(links as readonly string[])]).toEqual(['https:a.example']);
    expect(await page.locator('main :is(script, iframe, svg, form, input, link, meta, base, img)').count()).toBe(0);
    expect(await page.locator('article').count()).toBe(16 * ATTACKS.length);
    expect(await page.evaluate('typeof hacked')).toBe('undefined');
    expect(offences).toEqual([]);
  });

  itInChromium('shows everything except the controls without scripts', async () => {
    const { page } = await browser.open(await pageFile(longHistory(100)), 'dark', false);
    expect(await page.locator('article').count()).toBe(100);
    expect(await page.locator('#tools').isVisible()).toBe(false);
  });

  itInChromium('opens ten thousand messages, finds words in them and jumps to a day', async () => {
    const file = await pageFile(longHistory(10_000));
    const { page, offences } = await browser.open(file, 'light');
    expect(await page.textContent('#count')).toBe('10,000 messages · ');
    await page.fill('#search', 'QUESTION 7774');
    await page.locator('#found', { hasText: /^1 of 1$/ }).waitFor();
    await page.locator('article.current', { hasText: 'question 7774' }).waitFor();
    const shown = '[...document.querySelectorAll("article")].filter((article) => article.checkVisibility()).length';
    expect(await page.evaluate(shown)).toBe(1);
    // Its time leads to it among its neighbours.
    await page.click('article.current h3 a');
    await page.locator('#m7776').waitFor();
    expect(await page.inputValue('#search')).toBe('');
    await expectNear(page, '#m7775');
    // Right after the search was emptied, and on a telephone, where the search and the days have a row each.
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.evaluate('document.querySelector("#search").offsetWidth')).toBeGreaterThan(140);
    expect(await page.evaluate('document.querySelector("#day").offsetWidth')).toBeGreaterThan(160);
    await page.fill('#search', 'question 9998');
    await page.locator('#found', { hasText: /^1 of 1$/ }).waitFor();
    await page.fill('#search', '');
    await page.selectOption('#day', { label: 'Wed 1 May 2024' });
    await page.locator('#m2421').waitFor();
    await expectNear(page, 'section:has(#m2421)');
    await page.waitForTimeout(150);
    await expectNear(page, 'section:has(#m2421)');
    expect(await page.textContent('#m2422 pre')).toBe('let a = 2421;');
    expect(offences).toEqual([]);
  });
});

/** Waits until the beginning of an element stands near the top of the window. */
async function expectNear(page: Awaited<ReturnType<Browser['open']>>['page'], selector: string): Promise<void> {
  const element = page.locator(selector);
  let top = Number.NaN;
  for (let tries = 0; tries < 100 && !(top >= 0 && top < 200); tries += 1) {
    top = (await element.boundingBox())?.y ?? Number.NaN;
    await page.waitForTimeout(50);
  }
  expect(top).toBeGreaterThanOrEqual(0);
  expect(top).toBeLessThan(200);
}
