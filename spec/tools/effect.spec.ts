import { expect, it } from '@jest/globals';
import { tools } from '../../lib/tools/index.js';
import { EFFECTS } from '../../lib/tools/tool-specs.js';
import { bench } from '../support/tool-runner.js';

it('every tool that asks for permission to write or to run a command declares its effect', () => {
  const place = bench();
  const args = { path: 'a.ts', content: 'x', old_text: 'x', new_text: 'y', command: 'ls' };
  for (const { name, access } of tools) {
    const { kind } = access(args, place.context);
    const effect = EFFECTS[name];
    if (kind === 'write') expect([name, effect]).toEqual([name, { kind: 'write', argument: 'path' }]);
    if (kind === 'execute') expect([name, effect]).toEqual([name, { kind: 'command' }]);
    if (kind === 'read') expect([name, effect?.kind ?? 'read']).toEqual([name, 'read']);
  }
  place.remove();
});
