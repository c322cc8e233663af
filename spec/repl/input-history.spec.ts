import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { InputHistory } from '../../lib/repl/input-history.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-inputs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the input history', () => {
  it('continues in the next session, each input once, at its last place', () => {
    const file = join(folder, 'new', 'inputs');
    const first = new InputHistory(file);
    for (const text of ['one', 'two\nlines', 'one', 'one']) first.add(text);
    expect(first.entries()).toEqual(['two\nlines', 'one']);
    const second = new InputHistory(file);
    second.add('three');
    expect(second.entries()).toEqual(['two\nlines', 'one', 'three']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('keeps a cleared line for this session, and in the file once it is sent', () => {
    const file = join(folder, 'inputs');
    const inputs = new InputHistory(file);
    inputs.add('sent');
    inputs.addDraft('cleared');
    inputs.addDraft('sent');
    expect(inputs.entries()).toEqual(['sent', 'cleared']);
    expect(new InputHistory(file).entries()).toEqual(['sent']);
    inputs.add('cleared');
    expect(new InputHistory(file).entries()).toEqual(['sent', 'cleared']);
  });

  it('skips damaged lines', () => {
    const file = join(folder, 'inputs');
    writeFileSync(file, '"one"\n{"no": "string"}\n"cut');
    expect(new InputHistory(file).entries()).toEqual(['one']);
  });

  it('keeps the newest inputs, up to a number and a size', () => {
    const file = join(folder, 'inputs');
    writeFileSync(file, Array.from({ length: 5000 }, (_, index) => `"${index}"\n`).join(''));
    expect(new InputHistory(file).entries()).toHaveLength(2000);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2001);
    const long = 'x'.repeat(9_000_000);
    writeFileSync(file, ['a', 'b', 'c', 'd'].map((name) => `"${name}${long}"\n`).join(''));
    expect(new InputHistory(file).entries()).toEqual([`d${long}`]);
  });

  it('writes nothing without a file, and is silent if it cannot write', () => {
    const none = new InputHistory(null);
    none.add('one');
    expect(none.entries()).toEqual(['one']);
    const impossible = new InputHistory(join(folder, 'inputs', 'below'));
    writeFileSync(join(folder, 'inputs'), '');
    impossible.add('two');
    expect(impossible.entries()).toEqual(['two']);
    expect(existsSync(join(folder, 'inputs', 'below'))).toBe(false);
  });
});
