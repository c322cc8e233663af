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
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keepScripts } from '../../../lib/cli/compiled/keep-scripts.js';
import { Scripts, type Use } from '../../../lib/cli/compiled/scripts.js';
import fc from '../../support/properties.js';

const HASH = '0123456789abcdef';
const PROGRAM = `program-${HASH}.cjs`;
const SDK = `sdk-${HASH}.cjs`;
const DAY = 24 * 3600 * 1000;

/** Scripts as the build writes them. */
const script = (body: string): string =>
  `(function(module,exports,require,__dirname,url$){"use strict";${body};return module.exports})`;
const FILES = {
  [PROGRAM]:
    'globalThis.hiRuns=(globalThis.hiRuns??0)+1;function twice(n){return n*2}module.exports={twice,url:url$,folder:__dirname,four:twice(2),load:require}',
  [SDK]: 'const{sep}=require("node:path");exports.eight=8;exports.sep=sep',
};

describe('the scripts of the program', () => {
  let folder: string;
  let kept: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hi-scripts-'));
    kept = join(folder, 'cache', 'compiled');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs both scripts as a start does. */
  function start(into: string | null = kept, use: Use = 'ask') {
    for (const [name, body] of Object.entries(FILES)) writeFileSync(join(folder, name), script(body));
    const scripts = new Scripts({ folder, files: { program: PROGRAM, sdk: SDK } });
    if (into !== null) scripts.keepIn(into, use);
    return { scripts, program: scripts.get('program'), sdk: scripts.get('sdk') };
  }

  const startAndKeep = (now = Date.now()): void => keepScripts(start().scripts.toKeep, now);
  const unkept = (use?: Use): number => start(kept, use).scripts.toKeep.length;
  const keptFile = (name = 'program'): string => join(kept, `ask-${name}-${HASH}-${process.version}-${process.arch}`);

  it('get the folder and the URL of their file, and return their exports', () => {
    const { program } = start(null);
    expect(program).toMatchObject({ four: 4, folder, url: pathToFileURL(join(folder, PROGRAM)).href });
  });

  it("run once, whoever needs them, and get each other and Node's own modules", () => {
    const { scripts, program, sdk } = start(null);
    const runs = Reflect.get(globalThis, 'hiRuns');
    const load = Reflect.get(program, 'load');
    expect(load('sdk')).toBe(sdk);
    expect(sdk).toEqual({ eight: 8, sep });
    expect(scripts.get('program')).toBe(program);
    expect(Reflect.get(globalThis, 'hiRuns')).toBe(runs);
    expect(() => load('toString')).toThrow("Cannot find module 'toString'");
    expect(() => scripts.get('other')).toThrow("'other' is not a script of the program.");
  });

  it('are stored in compiled form, for the user alone, and found again', () => {
    expect(unkept()).toBe(2);
    startAndKeep();
    expect(readdirSync(kept)).toHaveLength(2);
    expect([statSync(kept).mode & 0o777, statSync(keptFile()).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(unkept()).toBe(0);
    expect(start().sdk).toMatchObject({ eight: 8 });
  });

  it('are stored all, once one of them is new', () => {
    startAndKeep();
    rmSync(keptFile('sdk'));
    expect(unkept()).toBe(2);
  });

  it('are stored for each use', () => {
    startAndKeep();
    expect(unkept('chat')).toBe(2);
    expect(unkept('ask')).toBe(0);
  });

  it('are not stored without a folder for them', () => {
    expect(start(null).scripts.toKeep).toEqual([]);
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
        expect(unkept()).toBe(2);
        expect(start().sdk).toMatchObject({ eight: 8 });
      }),
    );
    startAndKeep();
    expect(unkept()).toBe(0);
  });

  it('run without a compiled form that somebody else could have written or that is not a file', () => {
    startAndKeep();
    chmodSync(keptFile(), 0o620);
    expect(unkept()).toBe(2);
    rmSync(keptFile());
    mkdirSync(keptFile());
    expect(unkept()).toBe(2);
    rmSync(keptFile(), { recursive: true });
    symlinkSync(join(folder, 'missing'), keptFile());
    expect(unkept()).toBe(2);
    rmSync(keptFile());
    execFileSync('mkfifo', ['-m', '600', keptFile()]);
    expect(unkept()).toBe(2);
  });

  it('run even if nothing can be stored', () => {
    writeFileSync(join(folder, 'cache'), '');
    startAndKeep();
    expect(start().sdk).toMatchObject({ eight: 8 });
  });

  it('remove the files of versions that were not used for a month, and no others', () => {
    mkdirSync(kept, { recursive: true });
    const old = `ask-program-${HASH.replace('0', 'f')}-v18.0.0-x64`;
    const recent = `chat-program-${HASH.replace('0', 'e')}-v18.0.0-x64`;
    for (const name of [old, recent, 'notes.txt']) writeFileSync(join(kept, name), '');
    for (const name of [old, 'notes.txt']) utimesSync(join(kept, name), new Date(0), new Date(0));
    mkdirSync(join(kept, 'v24.0.0-x64-964aae3f-0'));
    startAndKeep(statSync(join(kept, recent)).mtimeMs + 29 * DAY);
    const names = readdirSync(kept);
    expect(names).not.toContain(old);
    expect(names).toEqual(expect.arrayContaining([recent, 'notes.txt', 'v24.0.0-x64-964aae3f-0']));
  });
});
