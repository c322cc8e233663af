/** The ids of messages after a statement: `[#12]` or `[#12 #15]`, and the variants that models write. A Markdown link does not match. */
const CITATION = /\[#\d(?:[\d#,;&– -]|and)*\](?!\()/g;
/** The same with the space before it and the sign that ends the sentence. */
const CITED = / ?(\[#\d(?:[\d#,;&– -]|and)*\])(?!\()[.,;:!?。，；]?/g;

/** So many ids are kept of one citation. */
const MOST = 8;

/** The ids that a text cites, each once, in order. */
export function citedIn(text: string): readonly number[] {
  return [...new Set(Array.from(text.matchAll(CITATION), ([citation]) => idsOf(citation)).flat())];
}

/** These ids as a citation behind a text; nothing for none. */
export function citing(text: string, ids: readonly number[] = []): string {
  return ids.length === 0 ? text : `${text} ${citationOf(ids)}`;
}

/** The text with its citations in one form, without ids that do not exist and the citations that are empty then. */
export function citingOnly(text: string, exists: (id: number) => boolean): string {
  const left = text.replace(CITED, (all, citation: string) => {
    const ids = idsOf(citation).filter(exists);
    const end = all.slice(all.indexOf(citation) + citation.length);
    return ids.length === 0 ? end : `${all.startsWith(' ') ? ' ' : ''}${citationOf(ids)}${end}`;
  });
  // What is left may come together to another one.
  return left === text ? text : citingOnly(left, exists);
}

/** The text with other brackets around what looks like a citation and is somebody's words. */
export function withoutLookalikes(text: string): string {
  return text.replace(CITATION, (citation) => `(${citation.slice(1, -1)})`);
}

/** What a text states, piece by piece: up to the ids behind it, or to the end of the line. */
export function statementsOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const pieces: string[] = [];
    let from = 0;
    for (const { 0: citation, index } of line.matchAll(CITED)) {
      pieces.push(line.slice(from, index + citation.length));
      from = index + citation.length;
    }
    return [...pieces, line.slice(from)].map((piece) => piece.trim()).filter((piece) => piece !== '');
  });
}

const citationOf = (ids: readonly number[]): string => `[${ids.map((id) => `#${id}`).join(' ')}]`;

function idsOf(citation: string): readonly number[] {
  const ids = Array.from(citation.matchAll(/\d{1,16}/g), ([digits]) => Number(digits));
  return [...new Set(ids)].slice(0, MOST);
}
