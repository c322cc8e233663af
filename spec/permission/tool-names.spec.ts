import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { tools } from '../../lib/tools/index.js';

const ROOM = resolve(import.meta.dirname, '../../lib/permission');

it('the code that decides about calls names no tool', () => {
  // `bash` is a program too, which commands may run.
  const names = tools.map(({ name }) => name).filter((name) => name !== 'bash');
  const files = readdirSync(ROOM, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(20);
  const naming = files.filter((file) => {
    // Comments may say "remember".
    const text = readFileSync(join(ROOM, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    return names.some((name) => text.includes(name));
  });
  expect(naming).toEqual([]);
});
