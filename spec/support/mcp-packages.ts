import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchPackages } from '../../scripts/fetch-packages.js';

/** The servers that the protocol's makers publish, and Playwright's, in the versions that were tried. */
const PACKAGES = [
  '@modelcontextprotocol/server-everything@2026.8.31',
  '@modelcontextprotocol/server-filesystem@2026.8.31',
  '@modelcontextprotocol/server-memory@2026.8.31',
  '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
  '@playwright/mcp@0.0.83',
];

const FOLDER = process.env.HI_MCP_PACKAGES ?? join(homedir(), '.cache/hi-mcp-packages');

/** The program of a package. */
export const packageProgram = (name: string): string => join(FOLDER, 'node_modules/.bin', name);

/** Fetches the servers where they are not there yet. False where they cannot be had, with a line on the screen. */
export function hasPackages(): boolean {
  if (existsSync(packageProgram('playwright-mcp'))) return true;
  const failure = fetchPackages(FOLDER, PACKAGES);
  if (failure !== null)
    process.stdout.write(`The servers cannot be fetched from npm (${failure}): nothing is asked of them.\n`);
  return failure === null;
}

/** The browser for Playwright's server; null where there is none, with a line on the screen. */
export function chromium(): string | null {
  const found = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync) ?? null;
  if (found === null)
    process.stdout.write("Not tried: Playwright's server, for there is no Chromium (apt install chromium).\n");
  return found;
}

/** The everything server over HTTP, and what ends it. */
export async function httpServer(kind: 'streamableHttp' | 'sse'): Promise<{ readonly url: string; close(): void }> {
  const port = await freePort();
  const child = spawn(packageProgram('mcp-server-everything'), [kind], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: 'ignore',
  });
  for (let tries = 0; tries < 100 && !(await answers(port)); tries += 1) await sleep(100);
  return { url: `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`, close: () => void child.kill('SIGKILL') };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function answers(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}
