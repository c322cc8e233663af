/** Words that compress about as well as what people write, `characters` of them, others for each `seed`. */
export function prose(characters: number, seed: number): string {
  let state = (seed + 1) * 2654435761;
  const words: string[] = [];
  for (let length = 0; length < characters; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const word = `${WORDS[(state >>> 8) % WORDS.length]}${state % 11 === 0 ? `-${state >>> 20}. ` : ' '}`;
    words.push(word);
    length += word.length;
  }
  return words.join('').slice(0, characters);
}

const WORDS =
  'the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so what up said about than its into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many off before must well back through years where much your way down should because long each just state those people too mr how little good world make very year still see work life men day old say being get own used here between both last go think take came under against'.split(
    ' ',
  );
