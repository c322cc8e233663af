/** What a call of a tool does, as far as the record of a compaction keeps it: it reads or writes the file that one of its arguments names, or it runs a command. */
export type ToolEffect = { readonly kind: 'read' | 'write'; readonly argument: string } | { readonly kind: 'command' };

/** The effects of tools, by name; a tool that is not there leaves no record. */
export type ToolEffects = Readonly<Record<string, ToolEffect>>;
