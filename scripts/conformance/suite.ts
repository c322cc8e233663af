import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { fetchPackages } from '../fetch-packages.js';

/** The oldest Node for the suite, which is newer than the oldest one for hi. */
const OLDEST_NODE = 22;
const NODE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const PACKAGES = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', `${NODE}@24.21.0`];

const FOLDER = process.env.HI_CONFORMANCE_PACKAGES ?? join(homedir(), '.cache/hi-conformance-packages');
const SUITE = join(FOLDER, 'node_modules/@modelcontextprotocol/conformance');

/** The protocol revisions whose requirements the suite knows. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

/** The time limit of a client, in milliseconds. */
const TIMEOUT = 60_000;

/** The result of one scenario. */
export interface Outcome {
  readonly hasPassed: boolean;
  /** The failures, one line each. */
  readonly failures: readonly string[];
  /** The output of the suite and the client. */
  readonly output: string;
}

/**
 * Fetches the suite and a Node for it where they are not there yet. False if they cannot be had, with a line on the
 * screen.
 */
export function hasSuite(): boolean {
  if (existsSync(join(SUITE, 'package.json')) && existsSync(nodeOfSuite())) return true;
  const failure = fetchPackages(FOLDER, PACKAGES);
  if (failure !== null) console.log(`The suite cannot be fetched from npm (${failure}), so nothing was checked.`);
  return failure === null;
}

/** The scenarios for clients that a revision requires, in the order of the suite. */
export function requiredScenarios(revision: Revision): readonly string[] {
  const sets: unknown = load(readFileSync(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'));
  const client: unknown = Reflect.get(Object(sets), 'client');
  if (Array.isArray(client)) return client.map(String);
  throw new Error(`The suite no longer lists what ${revision} requires of clients.`);
}

/** Runs `command` as the client of a scenario, and writes the suite's observations to `results`. */
export async function runScenario(
  command: string,
  scenario: string,
  revision: Revision,
  results: string,
): Promise<Outcome> {
  const wanted = ['--scenario', scenario, '--spec-version', revision, '--timeout', String(TIMEOUT)];
  const program = join(SUITE, 'dist/index.js');
  const args = [program, 'client', '--command', command, ...wanted, '--output-dir', results];
  const child = spawn(nodeOfSuite(), args, {
    env: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: join(FOLDER, 'compiled') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [status] = await once(child, 'close');
  const output = Buffer.concat(chunks).toString();
  const isSkipped = output.includes('SKIPPED: scenario');
  return { hasPassed: status === 0 && !isSkipped, failures: [...failuresIn(results), ...said(output)], output };
}

/** The failed checks of a run. */
function failuresIn(results: string): readonly string[] {
  const files = existsSync(results) ? readdirSync(results, { recursive: true, encoding: 'utf8' }) : [];
  return files
    .filter((name) => name.endsWith('checks.json'))
    .flatMap((name): readonly unknown[] => JSON.parse(readFileSync(join(results, name), 'utf8')))
    .filter((check) => ['FAILURE', 'WARNING'].includes(String(field(check, 'status'))))
    .map((check) => `${field(check, 'id')}: ${field(check, 'errorMessage') ?? field(check, 'description')}`);
}

const field = (object: unknown, name: string): unknown => Reflect.get(Object(object), name);

const said = (output: string): readonly string[] => output.split('\n').filter((line) => /^(?:⚠️|SKIPPED)/u.test(line));

function nodeOfSuite(): string {
  const [major = '0'] = process.versions.node.split('.');
  return Number(major) >= OLDEST_NODE ? process.execPath : join(FOLDER, 'node_modules', NODE, 'bin/node');
}
