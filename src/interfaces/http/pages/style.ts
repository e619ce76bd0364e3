/** The look of pages that the server renders: the colours of the console, for a phone first, without a script. */
export const style = `
:root{color-scheme:light dark;--canvas:#f4f6f5;--surface:#fff;--sunken:#eef1ef;--line:#dfe3e1;--line-2:#c3cac6;--control:#858f8a;--ink:#141917;--ink-2:#46504b;--ink-3:#5f6a65;--accent:#0b6652;--fill:#0b6652;--fill-2:#085442;--ask:#855400;--ask-bg:#fcf1d9;--ask-mark:#b87c10;--deny:#a82d1b;--deny-bg:#fcebe7;--deny-mark:#d9583f;--off:#c9cfcc;--add:#e3f3ea;--del:#fdecea}
@media(prefers-color-scheme:dark){:root{--canvas:#0e1110;--surface:#151918;--sunken:#101413;--line:#262c2a;--line-2:#3a423f;--control:#6a7570;--ink:#e7ecea;--ink-2:#aeb8b3;--ink-3:#87928d;--accent:#5fc9a8;--fill:#177a62;--fill-2:#1b8a6f;--ask:#e3b04f;--ask-bg:#2a2212;--ask-mark:#c98d1c;--deny:#f2907c;--deny-bg:#2f1a16;--deny-mark:#d9583f;--off:#3a423f;--add:#10261d;--del:#2c1815}}
*{box-sizing:border-box;margin:0;padding:0;min-width:0}
html{-webkit-text-size-adjust:100%}
body{background:var(--canvas);color:var(--ink);font:400 14px/20px Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI","PingFang SC","Microsoft YaHei","Noto Sans CJK SC","Noto Sans SC",sans-serif;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:24px}
h1{font-size:22px;line-height:28px;font-weight:600;letter-spacing:-.015em;overflow-wrap:anywhere}
h2{display:flex;align-items:center;gap:8px;font-size:13px;line-height:18px;font-weight:600}
b{font-weight:600}
button,input,textarea{font:inherit;color:inherit}
a{color:var(--accent);text-underline-offset:2px}
code,pre{font:13px/20px "JetBrains Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono CJK SC",monospace;font-variant-ligatures:none;overflow-wrap:anywhere}
pre{white-space:pre-wrap}
svg{width:22px;height:22px;flex:none;fill:none;stroke:var(--ink);stroke-width:2;stroke-linecap:round}
svg .bar{stroke:var(--accent);stroke-width:2.25}
h2 svg{width:16px;height:16px}
.answer{width:100%;max-width:440px;border:1px solid var(--line-2);border-radius:12px;background:var(--surface);overflow:clip;display:grid;grid-template-rows:auto 1fr auto}
.head{display:flex;align-items:center;gap:10px;height:56px;padding:0 16px;border-bottom:1px solid var(--line);font-size:15px}
.head b{flex:1}
.head span{font-size:14px;font-variant-numeric:tabular-nums}
.soon{color:var(--ask)}
.body{padding:18px 16px;display:grid;gap:14px;align-content:start}
.facts{display:flex;flex-wrap:wrap;align-items:center;gap:2px 12px;font-size:13px;color:var(--ink-3);margin-bottom:4px}
.facts b{overflow-wrap:anywhere}
.risk{display:inline-flex;align-items:center;gap:6px;font-weight:600}
.bars{display:inline-flex;align-items:flex-end;gap:2px}
.bars i{width:3px;height:5px;border-radius:1px;background:var(--off)}
.bars i+i{height:8px}
.bars i+i+i{height:11px}
.low{color:var(--ink-2)}.low i:first-child{background:var(--ink-3)}
.medium{color:var(--ask)}.medium i:nth-child(-n+2){background:var(--ask-mark)}
.high{color:var(--deny)}.high i{background:var(--deny-mark)}
.says{padding:10px 14px;border:1px dashed var(--control);border-radius:8px}
.says p{margin-top:3px;font-size:15px;line-height:22px;color:var(--ink-2);overflow-wrap:anywhere}
.tag{font-size:12px;line-height:16px;font-weight:500;padding:0 5px;border-radius:3px;color:var(--ink-2);border:1px solid var(--line-2);white-space:nowrap}
.said{border:1px dashed var(--control)}
.found{border:1px solid var(--line-2);border-radius:8px;overflow:clip}
.found h2{padding:9px 14px;border-bottom:1px solid var(--line)}
.well{background:var(--sunken);border-bottom:1px solid var(--line);padding:10px 14px;max-height:60vh;overflow:auto}
.well h3{font-size:12px;line-height:18px;font-weight:500;color:var(--ink-3);overflow-wrap:anywhere}
.part{display:grid;grid-template-columns:20px minmax(0,1fr)}
.part>span{font-size:12px;color:var(--ink-3)}
.part p{font-size:13px;line-height:18px;color:var(--ink-3)}
.part-deny p{color:var(--deny)}
.well .a{background:var(--add)}.well .d{background:var(--del)}
.well .a,.well .d,.well .c{display:block}
.well .c{color:var(--ink-3)}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:6px 14px;padding:12px 14px}
dt{color:var(--ink-3);font-size:13px;max-width:84px}
dd{overflow-wrap:anywhere}
dd code{display:block}
dd p+p{margin-top:4px}
dd small{font-size:12px;color:var(--ask)}
label,legend{display:block;font-weight:500;margin-bottom:6px}
fieldset{border:0;display:grid;gap:8px}
.choice{display:flex;align-items:center;gap:10px;min-height:44px;padding:8px 12px;border:1px solid var(--line-2);border-radius:8px;font-weight:400;margin:0;overflow-wrap:anywhere}
.choice:has(:checked){border-color:var(--accent)}
.choice input{width:18px;height:18px;accent-color:var(--fill);flex:none}
input[type=password],textarea{width:100%;border:1px solid var(--control);border-radius:5px;background:var(--surface);padding:10px 12px;font-size:16px}
input[type=password]{height:48px;max-width:312px;letter-spacing:.5em;font-size:20px}
textarea{min-height:88px;resize:vertical}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:5px}
.hint{font-size:13px;line-height:19px;color:var(--ink-3)}
.body .hint{margin-top:8px}
.note{padding:10px 14px;border-radius:8px;background:var(--ask-bg);color:var(--ask)}
.wrong{padding:10px 14px;border-radius:8px;background:var(--deny-bg);color:var(--deny);font-weight:500}
.foot{padding:12px 16px 18px;border-top:1px solid var(--line-2);background:var(--surface)}
.acts{display:flex;flex-direction:row-reverse;gap:10px}
.acts>*{flex:1 1 0;display:grid;place-items:center;min-height:48px;padding:4px 10px;border:1px solid var(--line-2);border-radius:5px;background:var(--surface);color:var(--ink);font-size:15px;font-weight:500;text-decoration:none;text-align:center;cursor:pointer}
.acts .yes{flex-grow:1.4}
.acts .full{background:var(--fill);border-color:var(--fill);color:#fff}
.acts .full:hover{background:var(--fill-2)}
.foot .hint{margin-top:10px;text-align:center}
.box{width:100%;max-width:400px;display:grid;gap:20px;padding-bottom:6vh}
.brand{display:flex;align-items:center;gap:10px;font-size:16px}
.brand svg{width:28px;height:28px}
.card{padding:28px;border:1px solid var(--line-2);border-radius:12px;background:var(--surface);display:grid;gap:8px}
.card h1{font-size:20px;line-height:26px}
.card p{color:var(--ink-2);overflow-wrap:anywhere}
.card .next{margin-top:10px;display:grid;gap:6px}
.card .next pre{background:var(--sunken);padding:10px 12px;border-radius:5px;font-size:14px}
.card .go{margin-top:10px;display:grid;place-items:center;min-height:44px;border:1px solid var(--line-2);border-radius:5px;color:var(--ink);text-decoration:none;font-weight:500}
.lang{font-size:13px;text-align:center}
@media(max-width:520px){body:has(.answer){padding:0;place-items:stretch;background:var(--surface)}body:has(.box){padding:16px}.answer{max-width:none;border:0;border-radius:0;min-height:100vh;min-height:100dvh}.foot{position:sticky;bottom:0}.card{padding:20px}}
`
