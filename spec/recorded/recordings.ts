import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { itWhere } from '../support/where.js';

/** One recorded response of a vendor, and what a reader that knows no SDK made of it. */
export interface Recording {
  readonly id: string;
  /** The registry's name of the vendor. */
  readonly provider: string;
  readonly vendor: 'openai' | 'anthropic' | 'google' | 'ollama';
  readonly api: 'chat' | 'responses' | 'messages' | 'generateContent' | 'ollama';
  readonly request: { readonly path: string; readonly body: JsonObject | null };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly chunks?: readonly string[];
    readonly body?: string;
  };
  readonly expect: {
    readonly text: string;
    readonly thinking?: string;
    readonly toolCalls: readonly { readonly id?: string; readonly name: string; readonly args: JsonObject }[];
    readonly stopReason: string | null;
    readonly usage?: {
      readonly inputTokens?: number | null;
      readonly outputTokens?: number | null;
      readonly reasoningTokens?: number | null;
      readonly cachedInputTokens?: number | null;
      readonly cacheWriteTokens?: number | null;
    };
    readonly error?: { readonly message?: string };
    readonly opaque?: readonly JsonObject[];
  };
}

/** How a replayed response is served. */
export interface ReplayOptions {
  readonly recordings: readonly (string | Recording)[];
  readonly split?: number;
  readonly delay?: number;
  readonly firstDelay?: number;
  readonly cut?: number | string;
  readonly end?: number | string;
  readonly hang?: number | string;
}

/** A server that plays recordings one after another. */
export interface Replay {
  readonly url: string;
  readonly requests: readonly {
    readonly recording: string | null;
    readonly refused?: string;
    readonly body: JsonObject;
  }[];
  readonly outcomes: readonly { readonly outcome: string; readonly bytes: number }[];
  close(): Promise<void>;
}

interface ReplayModule {
  startReplay(options: ReplayOptions): Promise<Replay>;
}

/** The folder of recorded vendor traffic: beside the project, or where `HI_VENDOR_TRAFFIC` says. */
export const TRAFFIC = resolve(
  process.env.HI_VENDOR_TRAFFIC ?? join(import.meta.dirname, '../../../shared/vendor-traffic'),
);

/** Whether the recordings are there: they are not part of the project. */
const PRESENT = existsSync(join(TRAFFIC, 'recordings')) && existsSync(join(TRAFFIC, 'replay.mjs'));

/** Every recording there is, by name; none where the folder is absent. */
export const ALL_RECORDINGS: readonly Recording[] = PRESENT ? load() : [];

/** The specs that read recordings; where there are none, one skipped case that says so. */
export function withRecordings(specs: () => void): void {
  if (PRESENT) specs();
  else describe('recorded vendor traffic', () => itWhere(false, `nothing at ${TRAFFIC}`)('is read', () => {}));
}

/** Serves recordings on this machine while `use` runs; `base` is the address as the vendor of `recording` writes it. */
export async function replaying<Result>(
  options: ReplayOptions,
  { vendor }: Pick<Recording, 'vendor'>,
  use: (base: string, server: Replay) => Promise<Result>,
): Promise<Result> {
  const replay: ReplayModule = await import(pathToFileURL(join(TRAFFIC, 'replay.mjs')).href);
  const server = await replay.startReplay(options);
  try {
    return await use(vendor === 'openai' ? `${server.url}/v1` : server.url, server);
  } finally {
    await server.close();
  }
}

function load(): Recording[] {
  const folder = join(TRAFFIC, 'recordings');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file): Omit<Recording, 'provider'> => JSON.parse(readFileSync(join(folder, file), 'utf8')))
    .map((recording) => ({ ...recording, provider: recording.vendor === 'google' ? 'gemini' : recording.vendor }));
}
