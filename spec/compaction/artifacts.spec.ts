import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { collectArtifacts, describeArtifacts as inWords } from '../../lib/compaction/compress-block.js';
import { EFFECTS } from '../../lib/tools/tool-specs.js';
import { NO_ARTIFACTS } from '../../lib/view/block-state.js';
import { Log } from '../support/log.js';

/** The messages of a turn that runs so many commands. */
function turnWith(commands: number) {
  const log = new Log();
  log.user('go');
  for (let command = 0; command < commands; command++) log.tools('done');
  log.answer('ready');
  return log.reloaded().filter((entry) => 'role' in entry);
}

/** The messages of a turn that makes these calls; `error` is what the call failed with. */
function turnOf(calls: readonly (readonly [name: string, args: JsonObject, error?: string])[]) {
  const log = new Log();
  log.user('go');
  for (const [index, [name, args, error]] of calls.entries()) {
    const call_id = `call-${index}`;
    log.message('assistant', [{ type: 'tool_call', call_id, name, args }], { stop_reason: 'tool_calls' });
    const part = { type: 'tool_result', call_id, name } as const;
    log.message('tool', [error === undefined ? { ...part, result: 'done' } : { ...part, error }]);
  }
  log.answer('ready');
  return log.reloaded().filter((entry) => 'role' in entry);
}

describe('what tools did', () => {
  it('names a file changed by edit_file among the files written', () => {
    const artifacts = collectArtifacts(
      NO_ARTIFACTS,
      turnOf([
        ['write_file', { path: 'a.ts', content: '' }],
        ['edit_file', { path: 'b.ts', old_text: 'x', new_text: 'y' }],
        ['read_file', { path: 'c.ts' }],
        ['list_files', { path: 'd' }],
      ]),
      EFFECTS,
      1000,
    );
    expect(inWords(artifacts)).toBe('Files written: a.ts, b.ts\nFiles read: c.ts');
  });

  it('does not include calls that failed or were refused, or whose tool is unknown', () => {
    const artifacts = collectArtifacts(
      NO_ARTIFACTS,
      turnOf([
        ['write_file', { path: 'a.ts', content: '' }, 'Not allowed.'],
        ['bash', { command: 'ls' }, 'Not allowed.'],
        ['toString', { path: 'b.ts' }],
        ['read_file', { path: 7 }],
      ]),
      EFFECTS,
      1000,
    );
    expect(inWords(artifacts)).toBe('');
  });

  it('is counted over all passes, not only the last', () => {
    const first = collectArtifacts(NO_ARTIFACTS, turnWith(2), EFFECTS, 1000);
    const second = collectArtifacts(first, turnWith(3), EFFECTS, 1000);
    expect(inWords(second)).toBe('Commands run: 5');
  });
});
