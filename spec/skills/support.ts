import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import type { Part, SkillRecord, ToolCallPart } from '../../lib/chat/message.js';
import type { TextCache, TextModel, TextPrompt } from '../../lib/chat/request.js';
import { openSkills, type SkillsOptions } from '../../lib/skills/index.js';
import { NO_OVERRIDES, type SkillLibrary, type SkillSelection } from '../../lib/skills/skill.js';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder with these files in it, gone after the test. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'hi-skills-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** A skill file with frontmatter. */
export function skillFile(name: string, description: string, body = `# ${name}\n\nHow to do it.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;
}

/** A cache that forgets with the test. */
export function memoryCache(): TextCache & { readonly stored: Map<string, string> } {
  const stored = new Map<string, string>();
  return {
    stored,
    get: async (key) => stored.get(key) ?? null,
    put: async (key, text) => void stored.set(key, text),
  };
}

/** A model that writes what it is told, or fails with what it is given, and remembers what it was asked. */
export function scriptedModel(reply: string | Error | ((prompt: TextPrompt, signal: AbortSignal) => Promise<string>)) {
  const prompts: TextPrompt[] = [];
  const model: TextModel = {
    provider: 'fake',
    model: 'small',
    context_window: 32_000,
    async write(prompt, _onProgress, signal) {
      prompts.push(prompt);
      if (reply instanceof Error) throw reply;
      const text = typeof reply === 'string' ? reply : await reply(prompt, signal);
      return { text, stop_reason: 'end', usage: null };
    },
  };
  return { prompts, make: async () => model };
}

/** The library of a folder, with the default configuration unless told otherwise. */
export function open(folder: string, options: Partial<SkillsOptions> = {}): Promise<SkillLibrary> {
  return openSkills({ ...settingsOf(folder), ...options });
}

/** The default settings of the library of a folder. */
export function settingsOf(folder: string): SkillsOptions {
  return {
    folder,
    mode: 'auto',
    matcher: 'lexical',
    top_k: 3,
    evict_after: 3,
    budget_ratio: 0.15,
    large_tokens: 1000,
    context_window: 128_000,
    model: null,
    cache: memoryCache(),
  };
}

export { NO_OVERRIDES };

/**
 * A conversation with a library: says things and records what was chosen, as a session would. `seen` is the part of the
 * log it is given.
 */
export function conversation(library: SkillLibrary, seen = (entries: readonly Entry[]): readonly Entry[] => entries) {
  const entries: Entry[] = [];
  const add = (
    role: 'user' | 'assistant',
    content: readonly Part[],
    turn: number | null,
    skills?: SkillRecord,
  ): void => {
    const id = entries.length + 1;
    const at = '2026-11-22T10:00:00.000Z';
    entries.push({ id, turn: turn ?? id, at, cwd: '/', role, content, ...(skills && { skills }) });
  };
  return {
    library,
    entries,
    async say(
      text: string,
      answer = 'Fine.',
      wishes = NO_OVERRIDES,
      calls: readonly ToolCallPart[] = [],
    ): Promise<SkillSelection> {
      const selection = await this.library.select(seen(entries), text, wishes, new AbortController().signal);
      const turn = entries.length + 1;
      add('user', [{ type: 'text', text }], null, selection.record);
      add('assistant', [...calls, { type: 'text', text: answer }], turn);
      return selection;
    },
  };
}
