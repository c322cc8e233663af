import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newUid } from '../lib/chat/message.js';
import { historyPathsIn } from '../lib/history/base/history-paths.js';
import { prepareCodec } from '../lib/history/file/codec.js';
import { replaceHistory } from '../lib/history/repair/repair.js';
import { OwnFiles } from '../lib/share/own-files.js';
import { newId, newKeyText, parseKey } from '../lib/share/sealed-file.js';
import { readMarker } from '../lib/share/shared-folder.js';
import { prose } from '../spec/support/prose.js';
import { type FakeVendor, startFakeVendor } from './fake-vendor.js';
import { conversation } from './history.js';
import { runOnce } from './process.js';
import { median, type Row } from './row.js';
import { compare, home, PROGRAM, settingsFor } from './start.js';

/** Lengths of the conversation, in messages. */
const [SHORT, LONG] = [100, 1_000_000];
/** The other machines in the folder, and the files of each. */
const MACHINES = 5;
const FILES = 400;
/** So many turns are taken in at once, from four machines. */
const ARRIVING = 1000;
const ROUNDS = 15;

const KEY = newKeyText();

type Env = Readonly<Record<string, string>>;

/** What a conversation on several machines costs: to begin, to join, and with every question. */
export async function rows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'hi-bench-share-'));
  const vendor = await startFakeVendor();
  try {
    return [...(await asked(root, vendor, SHORT)), ...(await asked(root, vendor, LONG))];
  } finally {
    vendor.close();
    rmSync(root, { recursive: true, force: true });
  }
}

async function asked(root: string, vendor: FakeVendor, length: number): Promise<readonly Row[]> {
  vendor.pieces = 1;
  const at = `at ${length.toLocaleString('en')} messages`;
  const folder = join(root, `folder-${length}`);
  const made = (name: string): Env => {
    return { ...home(root, `${name}-${length}`, settingsFor(vendor, 'openai', '/v1')), HI_SHARE_KEY: KEY };
  };
  const [shared, alone, joining] = [made('shared'), made('alone'), made('joining')];
  const data = shared.HI_DATA_DIR ?? '';
  mkdirSync(data);
  replaceHistory(await prepareCodec(), historyPathsIn(data), 'bench', conversation(length));
  const begun = await hi(shared, 'share', folder, '--name', 'bench');
  const joined = await hi(joining, 'share', folder, '--name', 'another');
  const others = await otherMachines(folder);
  for (const other of others) give(other, FILES, 1);
  await hi(shared, 'share', 'sync');
  const arriving: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (const other of others.slice(0, 4)) give(other, ARRIVING / 40, 10);
    const taken = await hi(shared, 'share', 'sync');
    arriving.push(taken - (await hi(shared, 'share', 'sync')));
  }
  cpSync(data, alone.HI_DATA_DIR ?? '', { recursive: true, filter: (path) => !path.includes('share.') });
  const ask = (env: Env) => () => runOnce([process.execPath, PROGRAM, 'ask', 'hello'], env, vendor.clock);
  const found = await compare({ alone: ask(alone), shared: ask(shared) }, ROUNDS);
  const long = length === LONG;
  return [
    { what: `\`hi share\` for the first time, ${at}`, value: begun / 1000, unit: 's', ...(long && { limit: 30 }) },
    { what: `joining it, ${at}`, value: joined / 1000, unit: 's', ...(long && { limit: 40 }) },
    {
      what: `${ARRIVING.toLocaleString('en')} turns taken in, ${at}`,
      value: median(arriving) / 1000,
      unit: 's',
      ...(long && { limit: 1 }),
    },
    {
      what: `\`hi ask\` with ${MACHINES} other machines of ${FILES} files → first request, against one that is not shared, ${at}`,
      value: found.shared.request / found.alone.request,
      unit: '×',
      limit: 1.03,
    },
    {
      what: `the same → exit, with the turn given out, ${at}`,
      value: found.shared.wall / found.alone.wall,
      unit: '×',
      limit: 1.15,
    },
  ];
}

/** Runs the program. Resolves to the milliseconds that it took. */
async function hi(env: Env, ...args: readonly string[]): Promise<number> {
  return (await runOnce([process.execPath, PROGRAM, ...args], env, null)).wall;
}

/** Another machine, and the number of the last item that it gave out. */
interface Other {
  readonly files: OwnFiles;
  given: number;
}

async function otherMachines(path: string): Promise<readonly Other[]> {
  const [key, codec] = [parseKey(KEY) ?? Buffer.alloc(0), await prepareCodec()];
  const id = readMarker(path)?.id ?? '';
  return Array.from({ length: MACHINES }, (_, at) => {
    return { files: new OwnFiles({ path, id, machine: newId(), key, codec }, `machine ${at}`), given: 0 };
  });
}

/** Gives out so many files with so many turns each. */
function give(other: Other, files: number, turns: number): void {
  for (let file = 0; file < files; file += 1) {
    const items = Array.from({ length: turns }, (_, turn) => JSON.stringify(turnItem(other.given + turn)));
    other.given = other.files.write(items, other.given).last;
  }
}

/** A turn of two messages of 400 characters. */
function turnItem(count: number) {
  const at = new Date(Date.UTC(2026, 0, 1) + count * 60_000).toISOString();
  const turn = newUid();
  const said = (role: string, more: object) => {
    return { at, role, content: [{ type: 'text', text: prose(400, count) }], cwd: '/home/user', ...more };
  };
  const answer = { stop_reason: 'end', model: 'model', provider: 'openai' };
  return { kind: 'turn', turn, messages: [said('user', { uid: turn }), said('assistant', answer)] };
}
