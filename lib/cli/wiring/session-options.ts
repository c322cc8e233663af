import type { ThinkingLevel } from '../../chat/model.js';
import type { Elicit } from '../../mcp/base/elicitation.js';
import type { AskAboutInstructions } from '../../memory/instructions.js';
import type { Approve } from '../../tools/common/tool.js';
import type { SettingsOptions } from '../base/settings.js';

/** A command's options for its session. */
export interface SessionOptions extends SettingsOptions {
  readonly tools?: boolean | readonly string[];
  readonly yes?: boolean;
  readonly ephemeral?: boolean;
  /** Whether the session is an aside: without the conversation, and in no later request. */
  readonly fresh?: boolean;
  /** How hard the model should think. Overrides the configuration. */
  readonly think?: ThinkingLevel;
  /** Whether the model may search the web. Overrides the configuration. */
  readonly web?: boolean;
  readonly debug?: boolean;
  /** Asks the user before a tool runs; absent where that is impossible. */
  readonly approve?: Approve;
  /** Asks the user about the instructions of a project; absent where that is impossible. */
  readonly askAboutInstructions?: AskAboutInstructions;
  /** Asks the user what an MCP server wants to know; absent where that is impossible. */
  readonly elicit?: Elicit;
  /** Whether the session idles at a prompt, where summaries can be written while nobody waits. */
  readonly idles?: boolean;
  /** Whether MCP servers should report changes, which is useful only in a session that lasts. */
  readonly listens?: boolean;
}
