import { describe, expect, it } from '@jest/globals';
import { isRepository, runsLater } from '../../lib/permission/sandbox/runs-later.js';

describe('names of files that run later', () => {
  it.each([
    ...['.gemini', '.opencode', 'opencode.json', '.kiro', '.windsurf', '.kilocode', '.amp'],
    ...['.ghci', '.octaverc', '.Renviron', 'activate', 'activate.fish', 'Activate.ps1'],
    ...['mise.toml', '.mise.toml', 'mise.local.toml', '.mise.local.toml', 'mise.test.toml', '.mise.test.local.toml'],
    ...['.git', '.hg', '.svn', '.jj', '.fossil-settings', '.GIT'],
    ...['.lefthook', 'lefthook.yml', '.lefthook.yml', '.pre-commit-config.yaml', '.overcommit.yml'],
    ...['.fleet', '.zed', '.cursor', '.claude', '.codex', '.mcp.json', '.devcontainer.json', '.vs', '.nova', '.helix'],
    ...[
      'opencode.jsonc',
      '.qwen',
      '.roo',
      '.theia',
      '.aider.conf.yml',
      '.crush.json',
      'crush.json',
      '.continue',
      '.amazonq',
    ],
    ...['.trae', '.junie', '.augment', '.factory', '.gvimrc', '.lvimrc', '.nvim', '.vim', '.dir-locals-2.el', '.emacs'],
    ...['.emacs.d', '.kakrc', '.direnv', '.autoenv', '.autoenv.zsh', '.mise', '.tool-versions', '.cargo'],
    ...[
      'activate.csh',
      'activate.nu',
      'activate.bat',
      'activate_this.py',
      '.npmrc',
      '.yarnrc',
      '.yarnrc.yml',
      '.pnpmfile.cjs',
    ],
    ...[
      '.watchmanconfig',
      '.config',
      '.local',
      '.ssh',
      'a.code-workspace',
      'a.sublime-project',
      '.kateproject',
      'x.nvim.lua',
    ],
    ...['_darcs', '.bzr', '.fslckout', '_FOSSIL_', '.pijul', '.sl'],
  ])('include %s', (name) => {
    expect(runsLater(name)).toBe(true);
  });

  it.each([
    'gemini',
    'package.json',
    'octaverc',
    'renviron',
    '.rgignore',
    'amp',
    'mise.md',
    'promise.toml',
    'darcs',
    'a.code-workspace.x',
    'x.git',
    '.gitx',
    'mise.toml.x',
    'xmise.toml',
    'a.nvim.luax',
  ])('do not include %s', (name) => {
    expect(runsLater(name)).toBe(false);
  });

  it('include those of repositories', () => {
    const names = [
      '.git',
      '.hg',
      '.svn',
      '.jj',
      '.sl',
      '.bzr',
      '.pijul',
      '_darcs',
      '.fslckout',
      '_fossil_',
      '.fossil-settings',
      '_FOSSIL_',
    ];
    expect([...names, '.ssh', '.claude', 'mise.toml', 'git', ''].filter(isRepository)).toEqual(names);
  });
});
