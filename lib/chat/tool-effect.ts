/** What a compaction records about a tool call: that it read or wrote the file named by an argument, or ran a command. */
export type ToolEffect = { readonly kind: 'read' | 'write'; readonly argument: string } | { readonly kind: 'command' };

/** The effects of tools by name. Nothing is recorded for tools that are not listed. */
export type ToolEffects = Readonly<Record<string, ToolEffect>>;
