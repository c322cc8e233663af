import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { licencesOf } from '../../scripts/build/licences.js';

function packageIn(folder: string, name: string, about: object, texts: Readonly<Record<string, string>>): string {
  const root = join(folder, 'node_modules', name);
  mkdirSync(join(root, 'licenses'), { recursive: true });
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name, version: '1.2.3', ...about }));
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(root, file), text);
  return join(root, 'lib/index.js');
}

describe('the licences of what is bundled', () => {
  it('are those of each package once, with the texts that it contains', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-licences-'));
    const plain = packageIn(folder, 'plain', { license: 'MIT' }, { LICENSE: 'Copyright One', 'README.md': 'words' });
    const scoped = packageIn(
      folder,
      '@a/b',
      { license: 'ISC' },
      { 'licence.md': 'Two', THIRD_PARTY_NOTICES: 'Three', licensed: 'x' },
    );
    const nested = packageIn(join(folder, 'node_modules/plain'), 'inner', { license: 'BSD-2-Clause' }, {});
    const found = licencesOf([plain, plain, scoped, nested, 'lib/cli/main.ts', `node:x?/node_modules/missing/a.js`]);
    expect(found.match(/^\S+ 1\.2\.3 \(.+\)$/gm)).toEqual([
      '@a/b 1.2.3 (ISC)',
      'plain 1.2.3 (MIT)',
      'inner 1.2.3 (BSD-2-Clause)',
    ]);
    for (const text of ['Copyright One', 'Two', 'Three']) expect(found).toContain(`\n${text}\n`);
    expect(found).not.toMatch(/words|missing|^x$/m);
  });

  it('include those of packages of which only data is kept', () => {
    expect(licencesOf([])).toContain(readFileSync('node_modules/opencc-js/LICENSE', 'utf8').trim());
  });

  it('fail for a package that names none', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-licences-'));
    const input = packageIn(folder, 'bare', {}, {});
    expect(() => licencesOf([input])).toThrow("bare' names no licence.");
  });
});
