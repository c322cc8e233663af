/** Answers as models write them, with everything that is hard to wrap. */
export const ANSWERS: Readonly<Record<string, string>> = {
  headings: `# How to move a long running service to another machine without anybody noticing it at all

The idea is **simple**: you *copy* the data while the service runs, then stop it, copy what changed since, and start it elsewhere. The second copy is short.

## What you need before you begin, which is more than most people think when they plan it

1. A machine with the same version of the operating system, or one that is newer by no more than one release.
2. Enough space: the data, twice.
   - The first copy needs as much as the service uses today, and the second one needs what was changed in between.
   - Logs are not copied. They stay where they are, because nobody reads them - unless something goes wrong.
     1. In that case copy the last day only.
     2. Or compress them first: \`zstd -19 --long=27 /var/log/service/*.log\` takes a minute for each gigabyte of text.

### Then

> Measure twice, cut once. This old rule of carpenters holds for administrators as well, and perhaps more so.
>
> - A list in a quotation is rare but it exists, and its lines are as long as those of any other list.

Setext headings are written like this
=====================================

---

That is all.`,
  tables: `Here is what the commands do:

| Command | What it does | Default |
|---|:---:|---:|
| \`hi ask\` | one turn, answer on stdout | 1 |
| 日本語 | wide | 全角 |
| a \\| b | an escaped bar | |

And a wide one, which does not fit into most terminals:

| Name | Description of what this column means to the people who read it every day | Another long description that makes the row longer | Note |
|:--|---|---|---|
| first | it holds the first thing that was ever put into a table of this width by anybody | see above | none |

| not a table, because nothing follows that says so, even though it begins with a bar and goes on
and on.

Left | Right
--- | ---
a cell without bars at its sides | and another one`,
  code: `Use this script, which is longer than the terminal is wide in some of its lines:

\`\`\`bash
#!/bin/bash
set -euo pipefail
find . -name '*.log' -mtime +30 -print0 | xargs -0 --no-run-if-empty -n 100 -P 4 zstd --rm -19 --long=27 --quiet -- # all old logs
for file in *; do echo "$file"; done
\`\`\`

In a list it is indented:

- First this, where the explanation is so long that it needs another row of the terminal:

  ~~~
  indented code     with    blanks that have to stay where they are, whatever the width of the terminal may be
  ~~~

- And indented code after an empty line is code as well:

      this   is   code   by   its   indentation   and   goes   on   past   the   edge   of   most   terminals

    So is this, in another place, with    several    blanks    between    the    words    of    a    long    line.

Done. Call \`a very long piece of inline code that may not be broken in the middle of it\` when you need to.`,
  latex: `The solutions of $ax^2 + bx + c = 0$ are given by the well-known formula, which everybody learns at school and forgets:

$$
x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a} \\quad \\text{where } a \\neq 0 \\text{ and the discriminant is not negative, of course}
$$

Here \\( b^2 - 4ac \\) is the discriminant - when it is negative there are no real solutions + only complex ones = two of them.

\\[ e^{i\\pi} + 1 = 0 \\]`,
  chinese: `压缩是使对话对模型更短而不使其对您更短的行为，有趣的问题是哪些词语能在这一过程中幸存下来：姓名、决定、数字，以及某人要求但尚未完成的事情。

- 第一点：使用 \`git\` 命令时，请确保版本不低于 2.40，因为旧版本不支持我们在第三步中使用的参数。
- 第二点：日本語とEnglishが混ざった文章も、そのまま表示されるべきです。 次の文です。`,
  rightToLeft: `זוהי תשובה ארוכה בעברית, שנועדה לבדוק שהמילים אינן נשברות באמצע ושהשורות החדשות מתחילות במקום הנכון בכל רוחב של מסוף.

وهذا نص طويل باللغة العربية لاختبار التفاف الكلمات عند حافة الشاشة دون كسر أي كلمة من الكلمات في منتصفها أبداً.`,
  emoji: `Sure! 🎉 Here is what I found 👩‍👩‍👧‍👦 in the family album: 🏳️‍🌈 three flags, 👍🏽 two thumbs and ❤️ a heart, and 🇩🇪🇫🇷🇯🇵 some countries in a row, plus text.

- ✅ done with everything that was on the list of things to do for this week, including the laundry
- ❌ not done: the dishes, the windows and the letter to the landlord about the broken heating in the kitchen`,
  links: `See [the manual of the program, chapter seven, about lists and their indentation](https://example.org/manual/chapter-7#lists "A title with words") and <https://example.org/auto/link> or https://example.org/a/very/long/path/that/does/not/fit/into/any/terminal/of/eighty/columns?with=query&and=more for more.

![a picture of the thing with a long alternative text](https://example.org/picture.png) and a [reference link][ref] in the middle of a sentence that goes on for a while.

[ref]: https://example.org/reference "The reference, whose title is rather long but has to stay in its line"`,
  emphasis: `Use *args and **kwargs here, fine. But **this whole sentence is important, it is strong from its first word to its last one, and it is longer than a row** while *this one is only stressed and also goes on for some time until it ends* here.

A _snake_case_ name, 2 * 3 * 4, and ~~something that was deleted because it was not true~~ in one line with \`code *not stressed*\` in it.`,
  hazards: `The numbers are as follows and they stand at the places where a row would begin in most terminals of this world - 1. and 2. are items + 3) too > 4 is a quotation # 5 a heading | 6 a bar = 7 and so on --- 8 a rule *** 9 another one ___ and \`\`\` the end of it all <div> is HTML and [1]: a definition.

C:\\path\\ and a trailing backslash \\ are not line breaks but they could become some of them if a row ended with one of these \\ characters \\ as \\ here \\ and \\ there \\ again.

A line that ends with two blanks is a break of its own, which is easily lost when rows are put together again:${'  '}
so this is a new line.\\
And this one too, after a backslash at its end.`,
  tasks: `- [x] Install the tools, which takes a while when the network is slow and the machine is old, so make some tea and read the release notes
- [ ] \`git\` 2.40 or newer, because older versions do not know the flag that we use below in the third step of this very long list
  * nested with a star, and long enough for two rows of the terminal in which it is shown to the user who asked for it
    1) and nested deeper with a number and a parenthesis, which is another kind of list, long enough for two rows as well

    A second paragraph of the same item, which belongs to it because it is indented as deep as its text is.

  Back to the item outside, with a paragraph of its own that is also longer than one row of most terminals.`,
  html: `<details>
<summary>Click to see more of what is hidden here, in a line that is longer than most terminals are wide</summary>

Inside there is Markdown again, and it is **wrapped** like any other text that stands in a paragraph of its own, is it not?

</details>

<!-- a comment that is longer than the terminal is wide and that has to stay on its own line for whatever reason -->

Text with <kbd>Ctrl</kbd> + <kbd>C</kbd> in it, and with a <br> tag, which is longer than one row of a terminal of eighty columns.`,
};
