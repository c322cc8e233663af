import { describe, expect, it } from '@jest/globals';
import { type Row, withResults } from '../../scripts/conformance/table.js';

const PAGE = [
  'before',
  '<!-- conformance: written by npm run test:conformance -- --write -->',
  'an older table',
  '<!-- end of conformance -->',
  'after',
].join('\n');

const row = (more: Partial<Row>): Row => ({
  scenario: 'tools_call',
  revision: '2025-11-25',
  way: 'ask',
  hasPassed: true,
  ...more,
});

describe('the table of the conformance suite', () => {
  it('replaces the previous one, one line per scenario', () => {
    const rows = [
      row({}),
      row({ way: 'mcp test', hasPassed: false }),
      row({ revision: '2026-07-28', hasPassed: null }),
      row({ scenario: 'initialize' }),
    ];
    const written = withResults(PAGE, rows);
    expect(written).not.toContain('older');
    expect(written.split('\n')).toEqual(
      expect.arrayContaining([
        'before',
        '| `initialize` |  | passed |  |  |',
        '| `tools_call` | failed | passed |  | not run |',
        'after',
      ]),
    );
    expect(withResults(written, rows)).toBe(written);
  });

  it('needs its place in the page', () => {
    expect(() => withResults('nothing', [row({})])).toThrow('no place');
  });
});
