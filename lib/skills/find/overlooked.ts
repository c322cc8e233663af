import { type Dirent, readdirSync } from 'node:fs';
import { sep } from 'node:path';

/** File extensions used for Markdown. */
const MARKDOWN = /\.(?:md|mdx|mdown|mkdn?|markdown)$/i;

/** Limits of the search for skills that are nested too deep: folders visited, and levels. */
const MOST_FOLDERS = 50;
const DEEPEST = 3;

/** Why the name of a Markdown file keeps it from being a skill; null for other files. */
export function misnamed({ name }: Dirent): string | null {
  const ending = MARKDOWN.exec(name)?.[0];
  return ending === undefined || ending === '.md' ? null : `its extension is ${ending}, not .md; left out`;
}

/** Why a folder with Markdown files but without `SKILL.md` is not a skill; null for other folders. Never fails. */
export function misplaced(folder: string): string | null {
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
    for (const entry of entriesOf(`${folder}${sep}${inside}`)) {
      if (entry.name.startsWith('.')) continue;
      const path = `${inside}${entry.name}`;
      if (!entry.isDirectory() && MARKDOWN.test(path)) found.push(path);
      else if (entry.isDirectory() && path.split(sep).length < DEEPEST) folders.push(`${path}${sep}`);
    }
  }
  return found;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch {
    return [];
  }
}
