import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { systemCode } from '../errors.js';
import type { SkillWarning } from './skill.js';

/** A file named and placed like a skill. */
export interface SkillFile {
  /** Its name, taken from the file or folder name. */
  readonly name: string;
  readonly path: string;
  /** The skill's own folder, for `<name>/SKILL.md`; null for a flat file. */
  readonly folder: string | null;
  readonly bytes: number;
  /** Changes when the file does: inode, size and times. */
  readonly stamp: string;
  /** Its text where that is given, and the file is not read. */
  readonly text?: string;
}

interface Scan {
  readonly files: readonly SkillFile[];
  readonly warnings: readonly SkillWarning[];
}

/**
 * The maximum size of a skill in bytes. A larger file is hardly an instruction, and would be read into a request in
 * full.
 */
const LARGEST = 1024 * 1024;

/**
 * Finds `*.md` and `<name>/SKILL.md`, sorted by name, without reading them. Warns about files that look like a skill
 * but have the wrong name or place; hidden files and other file types are ignored. A missing folder has no skills.
 * Never fails.
 */
export function scanFolder(folder: string): Scan {
  const warnings: SkillWarning[] = [];
  const files: SkillFile[] = [];
  for (const entry of entriesOf(folder, warnings)) {
    if (entry.name.startsWith('.')) continue;
    const claim = claimOf(folder, entry);
    const found = claim === null ? null : examine([folder], claim);
    if (claim === null || found === null) {
      const path = `${folder}${sep}${entry.name}`;
      const reason = whyOverlooked(path, entry);
      if (reason !== null) warnings.push({ path, reason });
    } else if (typeof found === 'string') warnings.push({ path: claim.path, reason: `${found}; left out` });
    else files.push(fileOf(claim, found));
  }
  return { files, warnings };
}

/**
 * Finds `<name>/SKILL.md` in a folder that other programs read too, sorted by name. Nothing else there is a skill, and
 * nothing else is warned about. A link may lead to any of `folders`, as the programs that install skills make them. A
 * missing folder has no skills. Never fails.
 */
export function scanSharedFolder(folder: string, folders: readonly string[]): Scan {
  const warnings: SkillWarning[] = [];
  const files: SkillFile[] = [];
  for (const entry of entriesOf(folder, warnings)) {
    const claim = entry.name.startsWith('.') ? null : claimOf(folder, entry);
    if (claim === null || claim.folder === null) continue;
    const found = examine(folders, claim);
    if (typeof found === 'string') warnings.push({ path: claim.path, reason: `${found}; left out` });
    else if (found !== null) files.push(fileOf(claim, found));
  }
  return { files, warnings };
}

/** Skills by their `SKILL.md`, whose text is given. */
export function givenFiles(given: readonly { readonly path: string; readonly text: string }[]): readonly SkillFile[] {
  return given.map(({ path, text }) => {
    const folder = dirname(path);
    return { name: basename(folder), path, folder, bytes: Buffer.byteLength(text), stamp: '', text };
  });
}

function entriesOf(folder: string, warnings: SkillWarning[]): readonly Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    if (systemCode(error) !== 'ENOENT')
      warnings.push({ path: folder, reason: `cannot be read (${systemCode(error) ?? error})` });
    return [];
  }
}

/** A link may point to a file or a folder. */
function whyOverlooked(path: string, entry: Dirent): string | null {
  return (entry.isDirectory() ? null : misnamed(entry)) ?? (entry.isFile() ? null : misplaced(path));
}

type Claim = Omit<SkillFile, 'bytes' | 'stamp'> & { readonly linked: boolean };

function claimOf(folder: string, entry: Dirent): Claim | null {
  // `path.join` takes as long as `lstat`.
  const path = `${folder}${sep}${entry.name}`;
  const linked = entry.isSymbolicLink();
  if (entry.name.endsWith('.md') && !entry.isDirectory())
    return { name: entry.name.slice(0, -3), path, folder: null, linked };
  if (!entry.isDirectory() && !linked) return null;
  return { name: entry.name, path: `${path}${sep}SKILL.md`, folder: path, linked };
}

function fileOf({ name, path, folder }: Claim, { ino, size, mtimeMs, ctimeMs }: Stats): SkillFile {
  return { name, path, folder, bytes: size, stamp: `${ino} ${size} ${mtimeMs} ${ctimeMs}` };
}

/** The stats of a file; null when there is none (an unrelated folder, not a broken skill); or why it is left out. */
function examine(folders: readonly string[], claim: Claim): Stats | string | null {
  try {
    const own = lstatSync(claim.path);
    const linked = claim.linked || own.isSymbolicLink();
    const stats = linked ? statSync(claim.path) : own;
    if (linked && !folders.some((folder) => isInside(folder, claim.path)))
      return 'is a link to a place outside the skills folder; copy the file instead';
    return refusal(stats) ?? stats;
  } catch (error) {
    const code = systemCode(error) ?? String(error);
    const isAbsent = (code === 'ENOENT' && !isLink(claim.path)) || code === 'ENOTDIR';
    return isAbsent ? null : `cannot be read (${code})`;
  }
}

/** The skills folder itself may be a link, as dotfile managers make them. Links in it must not point outside. */
function isInside(folder: string, path: string): boolean {
  return existsSync(folder) && realpathSync(path).startsWith(realpathSync(folder) + sep);
}

function refusal(stats: Stats): string | null {
  if (!stats.isFile()) return 'is not a regular file';
  if (stats.size === 0) return 'is empty';
  if (stats.size > LARGEST) return `is too large (${stats.size} bytes; the limit is ${LARGEST})`;
  return null;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** File extensions used for Markdown. */
const MARKDOWN = /\.(?:md|mdx|mdown|mkdn?|markdown)$/i;

/** Limits of the search for skills that are nested too deep: folders visited, and levels. */
const MOST_FOLDERS = 50;
const DEEPEST = 3;

/** Why the name of a Markdown file keeps it from being a skill; null for other files. */
function misnamed({ name }: Dirent): string | null {
  const ending = MARKDOWN.exec(name)?.[0];
  return ending === undefined || ending === '.md' ? null : `its extension is ${ending}, not .md; left out`;
}

/** Why a folder with Markdown files but without `SKILL.md` is not a skill; null for other folders. Never fails. */
function misplaced(folder: string): string | null {
  const files = markdownIn(folder);
  const misspelt = files.find((file) => /^skill\.md$/i.test(file));
  if (misspelt !== undefined) return `its file is named ${misspelt}, not SKILL.md; left out`;
  const [first] = files;
  if (first === undefined) return null;
  const others = files.length === 1 ? '' : ` and ${files.length - 1} more`;
  return `has no SKILL.md, only ${first}${others}. A skill is NAME.md or NAME/SKILL.md; left out`;
}

/** The Markdown files in a folder and its subfolders, nearest first, as relative paths. */
function markdownIn(folder: string): readonly string[] {
  const found: string[] = [];
  const folders = [''];
  for (let at = 0; at < Math.min(folders.length, MOST_FOLDERS); at += 1) {
    const inside = folders[at] ?? '';
    for (const entry of entriesOf(`${folder}${sep}${inside}`, [])) {
      if (entry.name.startsWith('.')) continue;
      const path = `${inside}${entry.name}`;
      if (!entry.isDirectory() && MARKDOWN.test(path)) found.push(path);
      else if (entry.isDirectory() && path.split(sep).length < DEEPEST) folders.push(`${path}${sep}`);
    }
  }
  return found;
}
