import type { Source } from '../common/book-source.js';
import { aichat } from './aichat.js';
import { chatgpt } from './chatgpt.js';
import { claude } from './claude.js';
import { claudeCode } from './claude-code.js';
import { codex } from './codex.js';
import { gemini } from './gemini.js';
import { geminiCli } from './gemini-cli.js';
import { llm } from './llm.js';
import { markdown } from './markdown.js';
import { openWebui } from './open-webui.js';
import { pi } from './pi.js';

/** Every source, in the order in which they are asked whether a file is theirs: Markdown last, since much is. */
export const sources: readonly Source[] = [
  ...[chatgpt, claude, gemini, claudeCode, codex, geminiCli, pi, llm, openWebui],
  ...[aichat, markdown],
];
