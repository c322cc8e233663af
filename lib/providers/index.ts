import { anthropic } from './anthropic.js';
import type { ProviderMember } from './common/provider.js';
import { gemini } from './gemini.js';
import { ollama } from './ollama.js';
import { openai } from './openai.js';

/** All vendors. A new one needs one file in this folder and one line here. */
export const providers: readonly ProviderMember[] = [openai, anthropic, gemini, ollama];
