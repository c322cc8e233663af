import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';

/** Debian's Chromium. */
const CHROMIUM = '/usr/bin/chromium';

export const hasChromium = existsSync(CHROMIUM);

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A page that is open, and what it did that it must not do: windows, requests and scripts that are not its own. */
export interface OpenPage {
  readonly page: Page;
  readonly offences: readonly string[];
}

/** A browser without a window. Close it. */
export interface Browser {
  open(file: string, theme: 'light' | 'dark', scripts?: boolean): Promise<OpenPage>;
  close(): Promise<void>;
}

export async function openBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  // The sandbox of Chromium does not run as root.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  return {
    async open(file, colorScheme, javaScriptEnabled = true) {
      const viewport = { width: 1000, height: 800 };
      const context = await browser.newContext({ colorScheme, viewport, javaScriptEnabled });
      const page = await context.newPage();
      const address = pathToFileURL(file).href;
      const offences: string[] = [];
      page.on('dialog', (dialog) => {
        offences.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('popup', (popup) => offences.push(`window ${popup.url()}`));
      page.on('pageerror', (error) => offences.push(`error ${error.message}`));
      page.on('request', (request) => {
        if (request.url() !== address && !request.url().startsWith('data:image/'))
          offences.push(`request ${request.url()}`);
      });
      page.on('framenavigated', (frame) => {
        if (!frame.url().startsWith(address) && frame.url() !== 'about:blank') offences.push(`address ${frame.url()}`);
      });
      await page.goto(address);
      return { page, offences };
    },
    close: async () => await browser.close(),
  };
}

/** What axe-core finds wrong with a page, everything unfolded. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, because the page allows no script but its own.
  await page.evaluate(readFileSync(AXE, 'utf8'));
  return await page.evaluate(async () => {
    const { document, axe } = globalThis as unknown as {
      document: { querySelectorAll(selector: string): Iterable<{ open: boolean }> };
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    for (const details of document.querySelectorAll('details')) details.open = true;
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}
