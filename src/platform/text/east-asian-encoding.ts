export type EastAsianEncoding = "gb18030" | "big5" | "shift_jis" | "euc-jp" | "euc-kr"

/** With more bytes beyond ASCII than this, statistics detect the encoding. */
const fewBytes = 256

/**
 * Detects the encoding of short Chinese, Japanese or Korean text. It is too short for statistics, and accented letters
 * of other alphabets can look like such characters too; but those are rare characters, so only common ones count here.
 */
export function detectEastAsianEncoding(bytes: Uint8Array): EastAsianEncoding | undefined {
  const sample = bytes.subarray(0, 65_536)
  let beyond = 0
  for (const byte of sample) if (byte >= 0x80) beyond++
  if (beyond < 2 || beyond > fewBytes) return undefined
  const isCut = sample.length < bytes.length
  let best: { name: EastAsianEncoding; share: number } | undefined
  for (const name of names) {
    const text = decoded(name, sample, isCut)
    const share = text === undefined || isAmongLetters(text) ? 0 : commonShare(text, common[name])
    if (share > (best?.share ?? 0.5)) best = { name, share }
  }
  return best?.name
}

const names: readonly EastAsianEncoding[] = ["gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"]

function decoded(name: EastAsianEncoding, bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    return new TextDecoder(name, { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    return undefined
  }
}

/**
 * Reports whether every character is single and beside a Latin letter: then they are probably pairs of accented
 * letters.
 */
function isAmongLetters(text: string): boolean {
  const runs = text.match(/[^\0-\x7f]+/g) ?? []
  const beside = text.match(/(?<=[A-Za-z])[^\0-\x7f](?![^\0-\x7f])|(?<![^\0-\x7f])[^\0-\x7f](?=[A-Za-z])/g) ?? []
  return beside.length === runs.length
}

function commonShare(text: string, known: ReadonlySet<string>): number {
  const characters = Array.from(text).filter((character) => character > "\x7f")
  return characters.filter((character) => known.has(character)).length / characters.length
}

const marks = "，。、；：？！“”‘’（）《》「」『』【】…—·～　１２３４５６７８９０"

const simplified =
  "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔失证准每号干连查找算改查谢请文件测试输入错误名称编码版本用户密码数据时间语言中英汉字词句写读删添加新建保存打开关闭系统程序代码函数注释说明是否选项网页服务器客户端接口返回结果默认配置目录路径图片视频音乐早晚昨吗吧呢啊哪谁爱喜欢朋友孩父母哥姐妹弟您贵姓叫吃喝饭菜茶米买卖钱元块毛店价便宜北京上海广州深圳省县村街楼层室春夏秋冬风雨雪花草树木鸟鱼狗猫红黄蓝绿黑灰八九六七百千亿零半双床光疑霜举低故乡"

const traditional =
  "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡裏用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運筆失證準每號幹連查找算改謝請測試檔案檢編碼是否輸錯誤稱版戶密語言英漢字詞句寫讀刪添加存打閉程式函註釋選項網頁服器客端返預設配置錄徑圖片影音樂早晚昨嗎吧呢啊哪誰愛喜歡朋友孩父母哥姐妹弟您貴姓叫吃喝飯菜茶米買賣錢元塊店價台臺灣香港您"

const kanji =
  "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢表示設定変更確認入力削除保存検索実行結果名前値数列関型合部分"

const hangul =
  "이다는을를에의가은고하한지로사아어자기도리나시서대해그인있과라일정여것수전들만주구부보니세요안녕스우상국제으무원비장동소어조면마성유성중신연공모년선생위오경내할되적개러게드상방문화관학물회까반때말발단진실저용당야체강려모든교차산회각데트재않계통결프작운양명같심민외미본천치예분타음습입합감갑됐된했였없음파일글자테스트사람시간세계한국어말씀영호김박최바거두와너좋름금남북월날새행간또더못무직출추후표현검색저장삭제추가설정변경확인"

const kana = Array.from({ length: 0x30ff - 0x3040 }, (_, index) => String.fromCharCode(0x3041 + index)).join("")
const japanese = new Set(kana + kanji + marks)

const common: Readonly<Record<EastAsianEncoding, ReadonlySet<string>>> = {
  gb18030: new Set(simplified + marks),
  big5: new Set(traditional + marks),
  shift_jis: japanese,
  "euc-jp": japanese,
  "euc-kr": new Set(hangul + marks),
}
