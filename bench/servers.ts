import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeVendor, startFakeVendor } from './fake-vendor.js';
import { runOnce } from './process.js';
import { median, type Row } from './row.js';
import { home, PROGRAM, VENDORS } from './start.js';

/** How often `hi` is started with one server and with ten, by turns. */
const ROUNDS = 41;

/** How often a question goes from each vendor's server to each. */
const SWITCHES = 4;

const ASK = [process.execPath, PROGRAM, 'ask', 'hello'];

/** What other servers of the configuration cost a question, and how long the way from one that fails to the next is. */
export async function rows(): Promise<readonly Row[]> {
  const vendor = await startFakeVendor();
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-servers-'));
  try {
    return [...(await tenServers(folder, vendor)), ...(await switches(folder, vendor))];
  } finally {
    vendor.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tenServers(folder: string, vendor: FakeVendor): Promise<readonly Row[]> {
  let reached = 0;
  const others = await Promise.all(Array.from({ length: 9 }, () => listening(() => (reached += 1))));
  const first = { api_base: `http://127.0.0.1:${vendor.port}/v1`, api_key: 'sk-bench', model: 'm' };
  const rest = others.map(({ port }, at): [string, object] => [
    `s${at}`,
    { api_base: `http://127.0.0.1:${port}/v1`, api_key: `sk-${at}`, model: 'm' },
  ]);
  const one = home(folder, 'one', { servers: { first } });
  const fallback = rest.map(([name]) => name);
  const ten = home(folder, 'ten', { servers: { first, ...Object.fromEntries(rest) }, fallback });
  const ratios: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const pair = [async () => (await runOnce(ASK, one, null)).wall, async () => (await runOnce(ASK, ten, null)).wall];
    // Who runs second may find the machine warmer.
    const [ofOne = 0, ofTen = 0] =
      round % 2 === 0 ? [await pair[0]?.(), await pair[1]?.()] : [await pair[1]?.(), await pair[0]?.()].toReversed();
    if (round >= 0) ratios.push(ofTen / ofOne);
  }
  for (const { close } of others) close();
  return [
    { what: '`hi ask` with ten servers → exit, against one server', value: median(ratios), unit: '×', limit: 1.02 },
    { what: 'connections to the nine that are not asked', value: reached, unit: '', limit: 0 },
  ];
}

/**
 * From the refusal of one server to the request that the next one gets. The attempts at the first are not part of it.
 */
async function switches(folder: string, vendor: FakeVendor): Promise<readonly Row[]> {
  let refusedAt = 0;
  const failing = await listening(() => {
    refusedAt = performance.now();
  });
  const found: number[] = [];
  for (const from of VENDORS) {
    for (const to of VENDORS) {
      const at = (provider: string, port: number, path: string) => ({
        ...{ provider, model: 'm', api_key: `sk-${provider}`, api_base: `http://127.0.0.1:${port}${path}` },
      });
      const servers = {
        failing: at(from.provider, failing.port, from.path),
        next: at(to.provider, vendor.port, to.path),
      };
      const config = { servers, fallback: ['next'], limit: { month_tokens: 1e9 } };
      const env = home(folder, `${from.provider}-${to.provider}`, config);
      for (let round = -1; round < SWITCHES; round += 1) {
        rmSync(join(env.HI_CACHE_DIR ?? '', 'servers.json'), { force: true });
        vendor.clock.arrived = null;
        await runOnce(ASK, env, null);
        // The first run also asks the server about its model.
        if (round >= 0) found.push((vendor.clock.arrived ?? Number.NaN) - refusedAt);
      }
    }
  }
  failing.close();
  const sorted = found.toSorted((one, other) => one - other);
  return [
    { what: 'the switch to the next server, half of them', value: median(found), unit: 'ms' },
    {
      what: 'the switch to the next server, 95 % of them',
      value: sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN,
      unit: 'ms',
      limit: 100,
    },
  ];
}

/** A server that refuses every key. */
async function listening(reached: () => void): Promise<{ readonly port: number; close(): void }> {
  const server: Server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"Invalid API key"}}');
      reached();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
