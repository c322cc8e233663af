import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Paths } from '../../config/paths.js';
import { leadsToFile } from '../../remove-files.js';
import { fileHolds } from './places.js';

/** The user's own files that contain the text. hi does not change them. */
export function ownFilesWith(
  { config, configFile, skills, commands, memory }: Paths,
  holds: (content: string) => boolean,
): readonly string[] {
  const own = [configFile, ...[config, skills, commands].flatMap((folder) => filesBelow(folder))];
  return [...new Set(own)].filter((path) => path !== memory && fileHolds(path, holds)).sort();
}

function filesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter(leadsToFile);
  } catch {
    return [];
  }
}
