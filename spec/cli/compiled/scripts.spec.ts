import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keepScripts } from '../../../lib/cli/compiled/keep-scripts.js';
import { type Parts, Scripts } from '../../../lib/cli/compiled/scripts.js';
import fc from '../../support/properties.js';

const HASH = '0123456789abcdef';
const CORE = `core-${HASH}.cjs`;
const ADAPTER = `adapter-${HASH}.cjs`;
const DAY = 24 * 3600 * 1000;

/** The parts by the names of the ES modules in their place. */
const FILES = { './core.js': CORE, './adapter.js': ADAPTER };

/** Parts as the build writes them. */
const part = (body: string): string =>
  `(function(module,require,url,load){"use strict";${body};return module.exports})`;
const PARTS = {
  [CORE]:
    'globalThis.hiCoreRuns=(globalThis.hiCoreRuns??0)+1;function twice(n){return n*2}module.exports={twice,url,load,four:twice(2)}',
  [ADAPTER]: 'const core=require("./core.js");module.exports={eight:core.twice(4)}',
};

describe('the parts that run as scripts', () => {
  let folder: string;
  let kept: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hi-scripts-'));
    kept = join(folder, 'cache', 'compiled');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs both parts as a start does. */
  function start(into: string | null = kept) {
    for (const [name, body] of Object.entries(PARTS)) writeFileSync(join(folder, name), part(body));
    const scripts = new Scripts().use(parts());
    scripts.keepIn(into);
    const core = scripts.get('./core.js');
    return { scripts, core, adapter: scripts.get('./adapter.js') };
  }

  const parts = (): Parts => ({
    folder: `${folder}/`,
    url: 'file:///chunks/',
    files: FILES,
    load: async (name) => ({ imported: name }),
  });

  const startAndKeep = (now = Date.now()): void => keepScripts(start().scripts.toKeep, now);
  const unkept = (): number => start().scripts.toKeep.length;
  const keptFile = (): string => join(kept, `core-${HASH}-${process.version}-${process.arch}`);

  it('get their imports and the URL of their module, and return their exports', () => {
    const { core, adapter } = start(null);
    expect(core).toMatchObject({ four: 4, url: 'file:///chunks/core.js' });
    expect(adapter).toEqual({ eight: 8 });
  });

  it('run once, whoever needs them, and can be imported on demand like ES modules', async () => {
    const { scripts, core, adapter } = start(null);
    const runs = Reflect.get(globalThis, 'hiCoreRuns');
    expect([scripts.get('./core.js'), scripts.get('./adapter.js')]).toEqual([core, adapter]);
    const load = Reflect.get(core, 'load');
    expect(await load('./adapter.js')).toBe(adapter);
    expect(await load('./other.js')).toEqual({ imported: './other.js' });
    expect(Reflect.get(globalThis, 'hiCoreRuns')).toBe(runs);
    expect(() => scripts.get('./other.js')).toThrow("'./other.js' is not a part.");
    expect(() => new Scripts().get('./core.js')).toThrow("'./core.js' is not a part.");
  });

  it('are not found by a name that every object has', async () => {
    const load = Reflect.get(start(null).core, 'load');
    expect(await load('toString')).toEqual({ imported: 'toString' });
  });

  it('are stored in compiled form, for the user alone, and found again', () => {
    expect(unkept()).toBe(2);
    startAndKeep();
    expect(readdirSync(kept)).toHaveLength(2);
    expect([statSync(kept).mode & 0o777, statSync(keptFile()).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(unkept()).toBe(0);
    expect(start().adapter).toEqual({ eight: 8 });
  });

  it('are not stored without a folder for them, nor after a run of the core alone', () => {
    expect(start(null).scripts.toKeep).toEqual([]);
    writeFileSync(join(folder, CORE), part(''));
    const scripts = new Scripts().use(parts());
    scripts.keepIn(kept);
    scripts.get('./core.js');
    expect(scripts.toKeep).toEqual([]);
  });

  it('run without a compiled form that is damaged in any way, and store it again', () => {
    startAndKeep();
    const whole = readFileSync(keptFile());
    const damaged = fc.oneof(
      fc
        .nat(whole.length - 1)
        .map((at) => Buffer.concat([whole.subarray(0, at), Buffer.of(~(whole[at] ?? 0)), whole.subarray(at + 1)])),
      fc.nat(whole.length - 1).map((length) => whole.subarray(0, length)),
      fc.uint8Array({ minLength: 1, maxLength: 64 }).map((more) => Buffer.concat([whole, more])),
    );
    fc.assert(
      fc.property(damaged, (bytes) => {
        writeFileSync(keptFile(), bytes);
        expect(unkept()).toBe(1);
        expect(start().adapter).toEqual({ eight: 8 });
      }),
    );
    startAndKeep();
    expect(unkept()).toBe(0);
  });

  it('run without a compiled form that somebody else could have written or that is not a file', () => {
    startAndKeep();
    chmodSync(keptFile(), 0o620);
    expect(unkept()).toBe(1);
    rmSync(keptFile());
    mkdirSync(keptFile());
    expect(unkept()).toBe(1);
    rmSync(keptFile(), { recursive: true });
    symlinkSync(join(folder, 'missing'), keptFile());
    expect(unkept()).toBe(1);
    rmSync(keptFile());
    execFileSync('mkfifo', ['-m', '600', keptFile()]);
    expect(unkept()).toBe(1);
  });

  it('run even if nothing can be stored', () => {
    writeFileSync(join(folder, 'cache'), '');
    startAndKeep();
    expect(start().adapter).toEqual({ eight: 8 });
  });

  it('remove the files of versions that were not used for a month, and no others', () => {
    mkdirSync(kept, { recursive: true });
    const old = `core-${HASH.replace('0', 'f')}-v18.0.0-x64`;
    const recent = `core-${HASH.replace('0', 'e')}-v18.0.0-x64`;
    for (const name of [old, recent, 'notes.txt']) writeFileSync(join(kept, name), '');
    for (const name of [old, 'notes.txt']) utimesSync(join(kept, name), new Date(0), new Date(0));
    mkdirSync(join(kept, 'v24.0.0-x64-964aae3f-0'));
    startAndKeep(statSync(join(kept, recent)).mtimeMs + 29 * DAY);
    const names = readdirSync(kept);
    expect(names).not.toContain(old);
    expect(names).toEqual(expect.arrayContaining([recent, 'notes.txt', 'v24.0.0-x64-964aae3f-0']));
  });
});
