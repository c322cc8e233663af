import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isRepository, mountedFirst, runsLater, runsLaterReason } from '../../../lib/permission/paths/runs-later.js';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const reasonFor = (path: string, root = '/srv/p'): Promise<string | null> =>
  runsLaterReason({ absolute: path, real: path }, root);

/**
 * Names of settings from which some program runs something, collected for this spec alone: the code knows none of the
 * hidden ones.
 */
const HIDDEN = words(`
  .git .hg .svn .jj .envrc .env .env.local .husky .vscode .idea .devcontainer .devcontainer.json .cursor .cursorrules .claude .mcp.json .codex .gemini .zed
  .fleet .nova .helix .vs .theia .kiro .windsurf .qwen .roo .continue .amazonq .trae .junie .augment .factory .kilocode .amp .openhands .opencode .crush.json
  .aider.conf.yml .cargo .lefthook .lefthook-local.yml .pre-commit-config.yaml .overcommit.yml .githooks .gitattributes .gitmodules .gitconfig .exrc .vimrc
  .nvim.lua .lazy.lua .dir-locals.el .emacs.d .kakrc .ghci .octaverc .Renviron .Rprofile .iex.exs .ocamlinit .erlang .pdbrc .irbrc .pryrc .gdbinit .lldbinit
  .direnv .autoenv .autoenv.zsh .mise .mise.toml .tool-versions .shadowenv.d .ondir .rvmrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .watchmanconfig .config
  .local .ssh .bashrc .zshrc .profile .run .project .externalToolBuilders .mvn .bundle .github .gitlab-ci.yml .eslintrc.js .some-editor-of-next-year
`);
const PLAIN = words(`
  lefthook.yml lefthook-local.yml lefthook.yaml lefthook.toml lefthook.json captainhook.json grumphp.yml grumphp.yml.dist prek.toml mise.toml mise.local.toml
  mise.test.toml rtx.toml opencode.json opencode.jsonc crush.json AGENTS.md CLAUDE.md CLAUDE.local.md GEMINI.md a.code-workspace a.sublime-project x.nvim.lua
  init.lua activate activate.fish Activate.ps1 activate_this.py _darcs _FOSSIL_ config.fish crontab authorized_keys autostart systemd LaunchAgents conf.d
  Microsoft.PowerShell_profile.ps1
`);
const DATA = words(`
  src package.json README.md notes.md git promise.toml agents.txt activated.ts active activation.js xlefthook.yml lefthook.md mise.md fishing .gitignore
  .npmignore .dockerignore .gitkeep .keep .editorconfig .env.example .env.sample .eslintcache .pytest_cache .mypy_cache .ruff_cache .cache .parcel-cache .DS_Store
  .next .nuxt .turbo .svelte-kit .angular .gradle .kotlin .venv .tox .nyc_output .coverage .coverage.host.1 .hypothesis .ninja_log .ninja_deps .cmake .deps .libs
  .dirstamp .main.o.cmd .main.o.d .fingerprint .cargo-lock .cargo-ok .rustc_info.json .package-lock.json.lock .notes.md.swp .yarn .pnp.cjs .pnpm-store .terraform
  .terraform.lock.hcl .envrc.set-aside-1 .dart_tool .build .stack-work .zig-cache .nojekyll .tsbuildinfo .git-blame-ignore-revs
`);

describe('a name from which other programs run something later', () => {
  it.each([...HIDDEN, ...PLAIN])('is %s, in any folder and any case', async (name) => {
    for (const path of [`/${name}`, `/a/b/${name}`, `/a/${name.toUpperCase()}`])
      expect([path, runsLater(path)]).toEqual([path, true]);
    for (const path of [`/srv/p/${name}`, `/srv/p/a/${name}/x/y`])
      expect([path, await reasonFor(path)]).toEqual([path, 'what is written there may run later']);
  });

  it.each(DATA)('is not %s', async (name) => {
    for (const path of [`/${name}`, `/a/b/${name}`]) expect([path, runsLater(path)]).toEqual([path, false]);
    expect(await reasonFor(`/srv/p/${name}/x`)).toBeNull();
  });

  it('is any hidden one that nobody has heard of', () => {
    const name = fc.stringMatching(/^\.[a-z]{1,12}xyz(?:\.(?:toml|json|ya?ml|lua))?$/);
    fc.assert(fc.property(name, (hidden) => runsLater(`/a/${hidden}`)));
  });

  it('is hidden in a folder of data only where that part of it is run', () => {
    expect(words('/.yarn/releases /.yarn/plugins /.yarn/cache /.yarn/install-state.gz').map(runsLater)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(runsLater('/.venv/bin/activate')).toBe(true);
  });

  it('is not hidden among the files of others, except for repositories', () => {
    expect(words('/vendor/a/.eslintrc /target/debug/.x /lib/site-packages/.y').map(runsLater)).toEqual([
      false,
      false,
      false,
    ]);
    expect(words('/vendor/a/.git /target/.hg /vendors/.eslintrc').map(runsLater)).toEqual([true, true, true]);
  });

  it('does not count above the working folder or the home folder', async () => {
    expect(await reasonFor('/srv/.x/vendor/p/src/a.ts', '/srv/.x/vendor/p')).toBeNull();
    expect(await reasonFor('/srv/.x/vendor/p/.envrc', '/srv/.x/vendor/p')).not.toBeNull();
    expect(await reasonFor(join(homedir(), 'notes/a.md'))).toBeNull();
    expect(await reasonFor(join(homedir(), '.bashrc'))).not.toBeNull();
    expect(await reasonFor('/srv/.other/a')).not.toBeNull();
  });

  it('counts where a link leads', async () => {
    expect(await runsLaterReason({ absolute: '/srv/p/a', real: '/srv/p/.envrc' }, '/srv/p')).not.toBeNull();
    expect(await runsLaterReason({ absolute: '/srv/p/.envrc', real: '/srv/p/a' }, '/srv/p')).not.toBeNull();
  });
});

describe('a bare repository', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hi-later-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is not completed, in whatever order its parts are written', async () => {
    const parts = ['HEAD', 'objects/x', 'refs/x', 'config'];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(parts, { minLength: 4 }), async (order) => {
        rmSync(join(folder, 'a'), { recursive: true, force: true });
        const written: string[] = [];
        for (const part of order) {
          const path = join(folder, 'a', part);
          if ((await reasonFor(path, folder)) !== null) continue;
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, '');
          written.push(part);
        }
        expect(written).toHaveLength(3);
        expect(['HEAD', 'objects/x', 'refs/x'].every((part) => written.includes(part))).toBe(false);
      }),
      { numRuns: 24 },
    );
  });

  it('that is there is not written to, the working folder included', async () => {
    for (const part of ['HEAD', 'commondir']) writeFileSync(join(folder, part), '');
    expect(await reasonFor(join(folder, 'config'), folder)).not.toBeNull();
    expect(await reasonFor(join(folder, 'deep/in/it'), folder)).not.toBeNull();
  });
});

describe('the places that a sandbox mounts one by one', () => {
  it('are repositories, links and the first ones of the others that are in none of these', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hi-later-'));
    const at = (path: string): string => join(folder, path);
    symlinkSync('.a1', at('.link'));
    mkdirSync(at('bare'));
    writeFileSync(at('bare/HEAD'), '');
    const others = Array.from({ length: 60 }, (_, index) => at(`.a${index}`));
    const below = others.map((path) => join(path, 'mise.toml'));
    const needed = ['x/.git', '.link', 'bare', '.a3/.hg'].map(at);
    expect(mountedFirst([...below.slice(41), ...needed])).toEqual([...below.slice(41), ...needed]);
    expect(mountedFirst([...others, ...below, ...needed])).toEqual([...others.slice(0, 40), ...needed]);
    rmSync(folder, { recursive: true });
  });

  it('are repositories by their names', () => {
    const names = words('.git .hg .svn .jj .sl .bzr .pijul _darcs .fslckout _fossil_ .fossil-settings _FOSSIL_');
    expect([...names, '.ssh', '.claude', 'mise.toml', 'git', '', '.gitx', 'x.git'].filter(isRepository)).toEqual(names);
  });
});
