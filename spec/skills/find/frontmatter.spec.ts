import { describe, expect, it } from '@jest/globals';
import { FAILSAFE_SCHEMA, load } from 'js-yaml';
import { readFields, splitFrontmatter } from '../../../lib/skills/describe.js';
import fc from '../../support/properties.js';

describe('frontmatter', () => {
  it('reads lists, folded texts and maps as strings', async () => {
    const yaml = 'name: a\ndescription: >-\n  two\n  lines\nallowed-tools: [bash]\nmetadata:\n  version: 1.0\n';
    expect(await readFields(yaml)).toEqual({
      fields: { name: 'a', description: 'two lines', 'allowed-tools': ['bash'], metadata: { version: '1.0' } },
      problem: null,
    });
  });

  it('reads simple lines like the YAML library', async () => {
    const value = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'abz09 :#\'"-,.!?()[]{}&*|>%@`\\é漢\t') }),
      fc.constantFrom('"quoted: text"', "'it''s'", '"a # b"', 'plain text, with commas.', 'http://a.b/c'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 3 }), async (values) => {
        const yaml = values.map((text, index) => `key${index}: ${text}`).join('\n');
        const ours = await readFields(yaml);
        const theirs = yamlOrNull(yaml);
        if (ours.problem === null) expect(ours.fields).toEqual(theirs);
      }),
      { numRuns: 500 },
    );
  });

  it('returns the whole text if there is none', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.startsWith('---'));
        expect(splitFrontmatter(text)).toEqual({ yaml: null, body: text, problem: null });
      }),
    );
  });
});

function yamlOrNull(yaml: string): unknown {
  try {
    return load(yaml, { schema: FAILSAFE_SCHEMA });
  } catch {
    return null;
  }
}
