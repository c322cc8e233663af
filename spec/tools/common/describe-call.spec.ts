import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../lib/chat/json.js';
import { describeCall } from '../../../lib/tools/index.js';

describe('a call in one line', () => {
  const CALLS: readonly (readonly [string, JsonObject, string])[] = [
    ['bash', { command: 'ls -la' }, 'bash ls -la'],
    ['bash', { command: 'cd a &&\n  make\n' }, 'bash cd a && ⏎ make'],
    ['list_files', { path: '.' }, 'list_files .'],
    ['read_file', { path: 'a.ts' }, 'read_file a.ts'],
    ['read_file', { path: 'a.ts', offset: 10, limit: 5 }, 'read_file a.ts (lines 10-14)'],
    ['read_file', { path: 'a.ts', offset: 10 }, 'read_file a.ts (from line 10)'],
    ['write_file', { path: 'src/x.ts', content: 'a\n'.repeat(12) }, 'write_file src/x.ts (12 lines)'],
    ['write_file', { path: 'x', content: '' }, 'write_file x (0 lines)'],
    ['edit_file', { path: 'x', old: 'a\nb', new: 'c' }, 'edit_file x (-2 +1)'],
    ['weather', { city: 'Kyiv' }, 'weather {"city":"Kyiv"}'],
    ['now', {}, 'now'],
  ];

  it.each(CALLS)('%s %j reads %s', (name, args, line) => {
    expect(describeCall({ name, args })).toBe(line);
  });

  it('is cut if it is long, and says if the arguments were not JSON', () => {
    expect(describeCall({ name: 'bash', args: { command: 'x'.repeat(500) } })).toHaveLength(205);
    expect(describeCall({ name: 'bash', args: {}, invalid_args: '{' })).toBe('bash (unreadable arguments)');
  });
});
