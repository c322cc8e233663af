/** The tables of opencc-js: pairs of characters, as `萬 万|與 与`. The package has no types for them. */
declare module 'opencc-js/dict/*' {
  const pairs: string;
  export default pairs;
}
