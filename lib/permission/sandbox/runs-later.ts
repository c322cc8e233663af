/** The folders and files in which version control systems keep a working copy's settings and hooks. */
const REPOSITORIES = new Set([
  ...['.git', '.hg', '.svn', '.jj', '.sl', '.bzr', '.pijul', '_darcs'],
  ...['.fslckout', '_fossil_', '.fossil-settings'],
]);

/**
 * Names from which a program runs something when a folder is entered, opened or committed in, in addition to those that always need approval
 * (`isStartupPath`). In lower case, because some file systems ignore case.
 */
const RUNS_LATER = new Set([
  ...REPOSITORIES,
  // Run at a commit.
  ...['.lefthook', 'lefthook.yml', '.lefthook.yml', '.pre-commit-config.yaml', '.overcommit.yml'],
  // Editors and agents.
  ...['.fleet', '.zed', '.cursor', '.claude', '.codex', '.mcp.json', '.devcontainer.json', '.vs', '.nova', '.helix'],
  ...['.gemini', '.opencode', 'opencode.json', 'opencode.jsonc', '.kiro', '.windsurf', '.qwen', '.roo', '.theia'],
  ...[
    '.aider.conf.yml',
    '.crush.json',
    'crush.json',
    '.continue',
    '.amazonq',
    '.trae',
    '.junie',
    '.augment',
    '.factory',
    '.kilocode',
    '.amp',
  ],
  ...['.gvimrc', '.lvimrc', '.nvim', '.vim', '.dir-locals-2.el', '.emacs', '.emacs.d', '.kakrc'],
  // Interpreters that run a file in the folder they start in.
  ...['.ghci', '.octaverc', '.renviron'],
  // Shells that run something in each folder, and package managers.
  ...['.direnv', '.autoenv', '.autoenv.zsh', '.mise', '.tool-versions', '.cargo'],
  // Environments of Python, which editors activate in their terminals.
  ...['activate', 'activate.fish', 'activate.csh', 'activate.nu', 'activate.ps1', 'activate.bat', 'activate_this.py'],
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', '.watchmanconfig', '.config', '.local', '.ssh'],
]);

/** Extensions of settings files that name commands. */
const ENDINGS = ['.code-workspace', '.sublime-project', '.kateproject', '.nvim.lua'];

/** Whether another program later runs a file of this name without being told to. */
export function runsLater(name: string): boolean {
  const small = name.toLowerCase();
  return RUNS_LATER.has(small) || ENDINGS.some((ending) => small.endsWith(ending)) || isMiseSettings(small);
}

/** `mise.toml`, `.mise.local.toml`, and those of an environment: `mise.test.local.toml`. */
const isMiseSettings = (name: string): boolean => /^\.?mise\..*toml$/.test(name);

/** Whether a version control system takes its settings from a file or folder of this name. */
export const isRepository = (name: string): boolean => REPOSITORIES.has(name.toLowerCase());
