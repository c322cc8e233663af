import { describe, expect, it } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import { newestFirst, pagerFor } from '../../lib/cli/commands/pager.js';

const REAL = Object.fromEntries(
  ['less', 'bat', 'cat', 'more', 'most', 'moar', 'ov', 'vim', 'nvim', 'special'].map((name) => [
    `/usr/bin/${name}`,
    `/usr/bin/${name}`,
  ]),
);

const pager = (
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  platform: NodeJS.Platform = 'linux',
) => choice(files, env, platform).pager;

const choice = (
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = 'linux',
) => pagerFor({ PATH: '/usr/bin:/bin', ...env }, 'end', { platform, programAt: (path) => files[path] ?? null });

const command = (...given: Parameters<typeof pager>): string | undefined => pager(...given)?.command;

describe('the pager, where the user has chosen none', () => {
  it('is less', () => {
    expect(command({ '/bin/less': '/bin/less' })).toBe('less -FRX +G');
    expect(command({ '/usr/bin/less': '/nix/store/x/bin/less' }, {}, 'darwin')).toBe('less -FRX +G');
  });

  it('is none without less, with that of BusyBox, which knows neither its options nor colours, and on Windows', () => {
    expect(pager({})).toBeNull();
    expect(pager({ '/usr/bin/less': '/bin/busybox', '/bin/less': '/bin/less' })).toBeNull();
    expect(pager({ '/usr/bin/less': '/bin/busybox.static' })).toBeNull();
    expect(pager({ '/bin/less': '/bin/less' }, {}, 'win32')).toBeNull();
  });

  it('is the first in PATH, of absolute folders only', () => {
    expect(pager({ less: 'less', './less': './less' }, { PATH: ':.' })).toBeNull();
    const programAt = () => '/x/less';
    expect(pagerFor({}, 'end', { platform: 'linux', programAt }).pager).toBeNull();
  });
});

describe('the pager in PAGER', () => {
  it('opens in colour at the end, whatever the options of its user, if it is less', () => {
    expect(command(REAL, { PAGER: 'less' })).toBe('less -FRX +G');
    expect(command(REAL, { PAGER: 'less', LESS: '-R' })).toBe('less -R +G');
    expect(command(REAL, { PAGER: '/usr/bin/less -S' })).toBe('/usr/bin/less -S -R +G');
    expect(pager(REAL, { PAGER: 'less -i' })?.takesColour).toBe(true);
  });

  it('does so through less, if it is bat or a shell starts less', () => {
    const LESS = '+G$-R FX';
    const usual = { BAT_PAGER: 'less -FRX', BAT_STYLE: 'plain', LESS };
    expect(pager(REAL, { PAGER: 'bat', LESS: 'FX' })).toMatchObject({ env: usual, missesEnd: false });
    expect(pager(REAL, { PAGER: 'bat', BAT_PAGER: 'ov' })?.env.BAT_PAGER).toBe('ov');
    for (const PAGER of ['col -b | less', "sh -c 'less'", '~/less'])
      expect(pager(REAL, { PAGER, LESS: 'FX' })).toMatchObject({ command: PAGER, env: { LESS }, missesEnd: false });
  });

  it('opens at the end by its own option, if one is known, unless its user has it open elsewhere', () => {
    const ways = { most: '+999999999', moar: '--follow', 'ov -S': '--follow-mode', 'vim -R -': '+', 'nvim -R -': '+' };
    for (const [PAGER, option] of Object.entries(ways))
      expect(pager(REAL, { PAGER })).toMatchObject({ command: `${PAGER} ${option}`, missesEnd: false });
    expect(command(REAL, { PAGER: 'vim -R +/me -' })).toBe('vim -R +/me -');
    expect(pager(REAL, { PAGER: 'cat' })).toEqual({ command: 'cat', env: {}, takesColour: true, missesEnd: false });
  });

  it('is taken to open at the start, without colours, if it is not known', () => {
    for (const PAGER of ['special -s', 'col -b | special', 'LESS=X less'])
      expect(pager(REAL, { PAGER })).toMatchObject({ command: PAGER, takesColour: false, missesEnd: true });
    expect(pager(REAL, { PAGER: 'more' })).toMatchObject({ command: 'more', missesEnd: true, takesColour: false });
    expect(pager({ '/usr/bin/less': '/bin/busybox' }, { PAGER: 'less' })).toMatchObject({ missesEnd: true });
  });

  it('gives way to less, or to none, if it is not there', () => {
    expect(choice(REAL, { PAGER: 'mots -s' })).toMatchObject({ pager: { command: 'less -FRX +G' }, missing: 'mots' });
    expect(choice({}, { PAGER: '/opt/most' })).toEqual({ pager: null, missing: '/opt/most' });
    expect(choice({}, { PAGER: 'most' }, 'win32')).toMatchObject({
      pager: { command: 'most +999999999' },
      missing: null,
    });
  });
});

describe('the newest first', () => {
  const message = (id: number, turn: number): Entry =>
    ({ id, turn, at: '2026-01-01T00:00:00Z', cwd: '/', role: 'user', content: [] }) as Entry;
  const block = (id: number): Entry => ({ id, at: '2026-01-01T00:00:00Z', type: 'compress' }) as Entry;

  it('keeps each turn in reading order, with what was compacted in it', async () => {
    const { entries, isWhole } = await newestFirst([
      message(1, 1),
      message(2, 1),
      block(3),
      message(4, 1),
      message(5, 5),
    ]);
    expect([entries.map(({ id }) => id), isWhole]).toEqual([[5, 1, 2, 3, 4], true]);
  });

  it('ends with whole turns after about a thousand, but always has the newest one', async () => {
    const many = Array.from({ length: 3000 }, (_, at) => message(at, at - (at % 2)));
    const { entries, isWhole } = await newestFirst(many);
    expect([entries.length, entries[0]?.id, isWhole]).toEqual([1000, 2998, false]);
    expect((await newestFirst(many.map(({ id }) => message(id, 1)))).entries).toHaveLength(3000);
  });
});
