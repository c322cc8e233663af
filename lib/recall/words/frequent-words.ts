/**
 * Words that say nothing about the subject of a text. A word that is significant in another language (German 'die', 'war', 'man', French 'son')
 * is not in the list: a common word only takes space, but a missing one cannot be found.
 */
const LISTS = [
  // English, with words of questions about earlier messages, and parts of contractions.
  `a about above after again all also although always am an and another any anybody anyone anything are aren around as at away be because been before
  being below between both but by came can cannot come could couldn did didn do does doesn doing don done down during each either else ever every few
  for from further get gets getting give given go goes going gone got had hadn has hasn have haven having he her here hers herself him himself his how
  however i if in into is isn it its itself just know let like ll lot made make many may maybe me might mine more most much must my myself never next no
  nor not now of off often oh ok okay on once one only onto or other ought our ours ourselves out over own perhaps please put quite rather re really s
  same say says said see seem seems shall shan she should shouldn since so some somebody someone something still such t tell tells told than thank thanks
  that the their theirs them themselves then there therefore these they thing things this those though through to together too toward towards under until
  up upon us use used using ve very want was wasn way we well went were weren what whatever when where whether which while who whoever whom whose why
  will with within without won would wouldn yeah yes yet you your yours yourself yourselves`,
  // German
  `aber als am auf aus bei beim bis das dass dein deine dem den denn der des dich diese diesem diesen dieser dieses dir doch durch ein eine einem einen
  einer eines er es etwas euch euer eure für haben hatte hatten habe hast ich ihm ihn ihr ihre ihrem ihren ihrer im ist ja jede jedem jeden jeder jedes
  jetzt kann kein keine keinem keinen keiner können machen mein meine meinem meinen meiner mich mir mit muss nach nicht nichts noch nur oder ohne sehr
  seid sein seine seinem seinen seiner sich sie sind soll sollte über um und uns unser unsere unter vom von vor waren warum wegen weil wenn wer werden wie
  wieder wir wird wo wurde wurden zu zum zur zwischen`,
  // French
  `au aux avec ce ces cet cette dans de des du elle elles en est et eux il ils je la le les leur leurs lui ma mais mes moi mon même ne nos notre nous ont
  ou où par pas plus pour qu que quel quelle quelles quels qui sa sans se ses si sommes sont sur ta te tes toi ton très tu un une vos votre vous été être`,
  // Spanish, Portuguese, Italian
  `al algo como con contra cual cuando del desde donde el ella ellas ellos era eran eres esa ese eso esta estaba estado estar este esto estos fue fueron
  ha hay la las le les lo los más mi mis muy nada ni nos nosotros o para pero por porque que quien se si sí sin sobre soy su sus también tengo tiene tu tus
  un una uno unos y ya yo ao aos da das dos e ela ele eles em entre essa esse eu foi foram isso isto já mais mas meu minha muito na nas não nem no nos num
  numa os ou para pela pelo qual quando seu sua são também tem tinha uma você agli alla alle anche che chi ci cosa da dai dal dalla degli dei del della delle
  di dove e gli ho il io lei loro lui ma mi mia mio molto nel nella noi non per perché più questa questo sono sua suo ti tra una uno voi`,
  // Dutch, Swedish, Danish, Norwegian
  `aan bij dat deze die dit een en ik het heb heeft hij hoe hun ik je kan maar mijn naar niet nog ook op te uit van voor waar waren wat wel werd wij zij
  zijn zo att av den det detta du efter eller ett för från här inte jag kan med men mig mitt när och på som till var vi af blev deres ikke jeg og meget
  mit når være`,
  // Polish, Czech, Turkish
  `ale bo być był była było co czy dla do gdy gdzie ich jak jako jest jestem już kiedy który która które lub ma mnie może nad nie oraz po pod przez przy
  się są tak tam tego tej ten to tym tylko był byla bylo jsem jsme jsou který která které nebo není pro proč při také ten tento ve ve že ama bana ben bir
  biz bu bunu çok da daha de değil gibi hem için ile mı mi mu ne nasıl neden o olan olarak sen siz şu ve veya ya`,
  // Russian, Ukrainian
  `а без более был была были было быть в вам вас весь во вот все всё всех вы где да для до его ее её если есть еще ещё же за здесь и из или им их к как
  какая какие какой когда который кто ли либо мне мной мой моя мы на над не него нее неё нет ни них но ну о об он она они оно от очень по под при с
  сам свой себя со так также такой там тебя тем то того тоже той только том ты у уже хотя чего чем что чтобы эта эти это этот я є і ї й та ти ти що як`,
] as const;

/** The stop words in the form of `folded`, see `fold`. */
export function stopWords(folded: (word: string) => string): ReadonlySet<string> {
  // 'Also', 'war', 'die', 'made' and others are significant in one language and not in another.
  const content = [
    'die',
    'mit',
    'var',
    'era',
    'sin',
    'con',
    'sur',
    'plus',
    'dos',
    'den',
    'op',
    'af',
    'des',
    'ton',

    'may',
  ];
  const words = LISTS.flatMap((list) => list.split(/\s+/)).map(folded);
  return new Set(words.filter((word) => !content.includes(word)));
}
