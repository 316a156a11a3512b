"use strict";(self.rspackChunknbtorch=self.rspackChunknbtorch||[]).push([[700],{475(t,o,n){var r=n(982),e=n.n(r),a=n(314),i=(n.n(a))()(e());i.push([t.id,`/* Colours come from JupyterLab's theme; the few of our own have a dark form. The canvas reads these when it draws. */
.nbt-root {
  --nbt-back: var(--jp-layout-color1, #fff);
  --nbt-box: color-mix(in srgb, var(--jp-layout-color1, #fff) 96%, var(--jp-ui-font-color1, #000));
  --nbt-box-hover: color-mix(in srgb, var(--jp-layout-color1, #fff) 90%, var(--jp-ui-font-color1, #000));
  --nbt-group: color-mix(in srgb, var(--jp-layout-color1, #fff) 90%, var(--jp-brand-color1, #1976d2));
  --nbt-open: color-mix(in srgb, var(--jp-ui-font-color1, #000) 3.5%, transparent);
  --nbt-border: color-mix(in srgb, var(--jp-layout-color1, #fff) 78%, var(--jp-ui-font-color1, #000));
  --nbt-edge: color-mix(in srgb, var(--jp-layout-color1, #fff) 58%, var(--jp-ui-font-color1, #000));
  --nbt-op: #78909c;
  --nbt-parameter: #2e9e6b;
  --nbt-input: #8e6bbf;
  --nbt-loss: #e07b00;
  --nbt-optimizer: #8e6bbf;
  --nbt-gradient: #e07b00;
  --nbt-activation: #2f86d6;
  --nbt-other: #8a949c;

  color: var(--jp-ui-font-color1);
  font-family: var(--jp-ui-font-family);
  font-size: var(--jp-ui-font-size1, 13px);
  line-height: 1.4;
}

body[data-jp-theme-light='false'] .nbt-root {
  --nbt-box: color-mix(in srgb, var(--jp-layout-color1) 91%, #fff);
  --nbt-box-hover: color-mix(in srgb, var(--jp-layout-color1) 82%, #fff);
  --nbt-group: color-mix(in srgb, var(--jp-layout-color1) 80%, var(--jp-brand-color1));
  --nbt-parameter: #4cbb88;
  --nbt-input: #ab8bd8;
  --nbt-loss: #f09a36;
  --nbt-optimizer: #ab8bd8;
  --nbt-gradient: #f09a36;
  --nbt-activation: #56a3ea;
  --nbt-other: #9aa5ad;
}

.nbt-root *,
.nbt-root *::before {
  box-sizing: border-box;
}

.nbt-root [hidden] {
  display: none !important;
}

.nbt-panel {
  background: var(--nbt-back);
  display: flex;
  flex-direction: column;
  min-width: 320px !important;
  overflow: hidden;
}

.nbt-output {
  border: 1px solid var(--nbt-border);
  border-radius: 4px;
  margin: 4px 0;
  max-width: 900px;
  overflow: hidden;
}

.nbt-page {
  display: flex;
  flex: 1 1 auto;
  flex-direction: column;
  min-height: 0;
}

.nbt-tabs {
  border-bottom: 1px solid var(--nbt-border);
  display: flex;
  flex: none;
  overflow: auto hidden;
  padding: 0 6px;
  scrollbar-width: none;
}

.nbt-tab {
  background: none;
  border: 0;
  border-bottom: 2px solid transparent;
  color: var(--jp-ui-font-color2);
  cursor: pointer;
  font: inherit;
  padding: 7px 8px 6px;
}

.nbt-tab:hover {
  color: var(--jp-ui-font-color1);
}

.nbt-tab[aria-selected='true'] {
  border-bottom-color: var(--jp-brand-color1);
  color: var(--jp-ui-font-color1);
  font-weight: 600;
}

.nbt-tab:focus-visible,
.nbt-button:focus-visible,
.nbt-link:focus-visible {
  outline: 2px solid var(--jp-brand-color1);
  outline-offset: -2px;
}

.nbt-button {
  background: none;
  border: 1px solid transparent;
  border-radius: 3px;
  color: var(--jp-ui-font-color2);
  cursor: pointer;
  font: inherit;
  line-height: 1;
  min-width: 24px;
  padding: 5px;
}

.nbt-button:hover {
  background: var(--jp-layout-color2);
  color: var(--jp-ui-font-color1);
}

.nbt-link {
  background: none;
  border: 0;
  color: var(--jp-content-link-color, #0b76c4);
  cursor: pointer;
  font: inherit;
  padding: 0;
}

.nbt-link:hover {
  text-decoration: underline;
}

.nbt-space {
  flex: 1 1 auto;
}

.nbt-soft {
  color: var(--jp-ui-font-color2);
}

.nbt-number {
  font-variant-numeric: tabular-nums;
}

.nbt-broken {
  color: var(--jp-error-color1);
  font-weight: 600;
}

.nbt-right {
  text-align: right !important;
}

.nbt-wide {
  max-width: 0;
  width: 100%;
}

.nbt-under {
  color: var(--jp-ui-font-color2);
  font-size: 11px;
}

.nbt-code {
  font-family: var(--jp-code-font-family);
  font-size: 11px;
}

.nbt-ellipsis {
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.nbt-source {
  color: var(--jp-ui-font-color2);
  font-family: var(--jp-code-font-family);
  font-size: 11px;
  margin-left: 8px;
}

.nbt-empty {
  color: var(--jp-ui-font-color2);
  flex: 1 1 auto;
  margin: 0;
  padding: 40px 28px;
  text-align: center;
}

.nbt-empty h3 {
  color: var(--jp-ui-font-color1);
  font-size: 14px;
  font-weight: 600;
  margin: 0 0 6px;
}

.nbt-empty p {
  margin: 0 auto;
  max-width: 300px;
}

.nbt-empty pre {
  background: var(--jp-layout-color2);
  border-radius: 3px;
  color: var(--jp-ui-font-color1);
  display: inline-block;
  font-family: var(--jp-code-font-family);
  font-size: 12px;
  margin-top: 12px;
  padding: 6px 12px;
  user-select: text;
}

.nbt-foot {
  align-items: center;
  border-top: 1px solid var(--nbt-border);
  color: var(--jp-ui-font-color2);
  display: flex;
  flex: none;
  font-size: 11px;
  gap: 8px;
  padding: 4px 12px;
  white-space: nowrap;
}

.nbt-state::before {
  background: var(--jp-ui-font-color3);
  border-radius: 50%;
  content: '';
  display: inline-block;
  height: 8px;
  margin-right: 6px;
  width: 8px;
}

.nbt-state.nbt-busy::before {
  background: var(--nbt-parameter);
}

.nbt-table {
  border-collapse: collapse;
  font-size: 12px;
  width: 100%;
}

.nbt-table caption {
  color: var(--jp-ui-font-color2);
  font-size: 11px;
  padding: 6px 0 2px;
  text-align: left;
}

.nbt-table th {
  white-space: nowrap;
  border-bottom: 1px solid var(--nbt-border);
  color: var(--jp-ui-font-color2);
  font-size: 11px;
  font-weight: 400;
  padding: 3px 6px;
  text-align: left;
}

.nbt-table td {
  border-bottom: 1px solid color-mix(in srgb, var(--nbt-border) 45%, transparent);
  padding: 4px 6px;
  white-space: nowrap;
}

.nbt-table th:first-child,
.nbt-table td:first-child {
  padding-left: 0;
}

.nbt-table th:last-child,
.nbt-table td:last-child {
  padding-right: 0;
}

button.nbt-status {
  background: none;
  border: 0;
  color: inherit;
  cursor: pointer;
  font: inherit;
  font-variant-numeric: tabular-nums;
  line-height: 24px;
  padding: 0 4px;
}
`,""]),n.d(o,{},{A:i})},770(t,o,n){var r=n(982),e=n.n(r),a=n(314),i=(n.n(a))()(e());i.push([t.id,`.nbt-bar {
  align-items: center;
  border-bottom: 1px solid var(--nbt-border);
  display: flex;
  flex: none;
  flex-wrap: wrap;
  gap: 4px 14px;
  min-height: 34px;
  padding: 4px 12px;
}

.nbt-stat {
  align-items: baseline;
  display: inline-flex;
  gap: 6px;
}

.nbt-stat .nbt-number {
  font-weight: 600;
  min-width: 2.5ch;
}

.nbt-stat .nbt-soft {
  font-size: 11px;
}

.nbt-buttons {
  background: color-mix(in srgb, var(--nbt-back) 88%, transparent);
  border: 1px solid var(--nbt-border);
  border-radius: 4px;
  bottom: 8px;
  display: inline-flex;
  position: absolute;
  right: 8px;
}

.nbt-stage {
  background: var(--nbt-back);
  flex: 1 1 auto;
  min-height: 180px;
  overflow: hidden;
  position: relative;
}

.nbt-output .nbt-stage {
  flex: none;
  height: 400px;
}

.nbt-canvas {
  cursor: grab;
  inset: 0;
  position: absolute;
  touch-action: none;
}

.nbt-output .nbt-canvas {
  touch-action: auto;
}

/* In the page for keyboards and screen readers; seen while the keyboard walks it. */
.nbt-outline {
  background: var(--jp-layout-color1);
  border-right: 1px solid var(--nbt-border);
  bottom: 0;
  box-shadow: 0 0 10px rgb(0 0 0 / 20%);
  font-size: 12px;
  left: 0;
  list-style: none;
  margin: 0;
  max-width: 75%;
  opacity: 0;
  overflow: auto;
  padding: 4px 0;
  pointer-events: none;
  position: absolute;
  top: 0;
}

.nbt-outline:not(.nbt-unseen):has(:focus-visible) {
  opacity: 1;
  pointer-events: auto;
}

.nbt-outline-item {
  overflow: hidden;
  padding: 2px 10px 2px 8px;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.nbt-outline-item[aria-expanded='true']::before {
  content: '▾ ';
}

.nbt-outline-item[aria-expanded='false']::before {
  content: '▸ ';
}

.nbt-outline-item:focus {
  background: var(--jp-brand-color1);
  color: var(--jp-ui-inverse-font-color1, #fff);
  outline: none;
}

.nbt-notice {
  background: var(--jp-layout-color2);
  border-radius: 3px;
  bottom: 8px;
  font-size: 11px;
  left: 8px;
  max-width: calc(100% - 160px);
  padding: 4px 8px;
  position: absolute;
}

.nbt-notice:empty {
  display: none;
}

.nbt-detail {
  background: var(--jp-layout-color1);
  border-top: 1px solid var(--nbt-border);
  flex: none;
  max-height: 45%;
  overflow: auto;
  padding: 8px 12px 12px;
}

.nbt-detail-head {
  align-items: center;
  display: flex;
  gap: 8px;
  margin-bottom: 4px;
}

.nbt-detail-head strong {
  font-weight: 600;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.nbt-facts {
  display: grid;
  font-size: 12px;
  gap: 3px 14px;
  grid-template-columns: max-content 1fr;
  margin: 0;
  user-select: text;
}

.nbt-facts dt {
  color: var(--jp-ui-font-color2);
  font-weight: 400;
}

.nbt-facts dd {
  margin: 0;
  overflow-wrap: anywhere;
}

.nbt-failure {
  color: var(--jp-error-color1);
  font-size: 12px;
  margin: 8px 0 0;
}

.nbt-graph-title {
  margin-left: auto;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.nbt-still .nbt-stat {
  display: none;
}

.nbt-still .nbt-graph-title {
  margin-left: 0;
}
`,""]),n.d(o,{},{A:i})},646(t,o,n){var r=n(982),e=n.n(r),a=n(314),i=n.n(a),p=n(475),l=n(770),b=n(517),s=i()(e());s.i(p.A),s.i(l.A),s.i(b.A),s.push([t.id,`
`,""]),n.d(o,{},{A:s})},517(t,o,n){var r=n(982),e=n.n(r),a=n(314),i=(n.n(a))()(e());i.push([t.id,`.nbt-memory {
  gap: 10px;
  overflow: auto;
  padding: 12px;
}

.nbt-memory > * {
  flex: none;
}

.nbt-cards {
  display: flex;
  flex-wrap: wrap;
  gap: 6px 26px;
}

.nbt-card .nbt-soft {
  font-size: 11px;
}

.nbt-card-value {
  font-size: 17px;
  font-weight: 600;
  line-height: 1.25;
  min-width: 7ch;
}

.nbt-gauge {
  background: var(--jp-layout-color2);
  border-radius: 3px;
  display: flex;
  height: 12px;
  overflow: hidden;
}

.nbt-band {
  height: 100%;
}

.nbt-swatch {
  border-radius: 2px;
  display: inline-block;
  flex: none;
  height: 9px;
  margin-right: 6px;
  width: 9px;
}

.nbt-parameter {
  background: var(--nbt-parameter);
}

.nbt-optimizer {
  background: var(--nbt-optimizer);
}

.nbt-gradient {
  background: var(--nbt-gradient);
}

.nbt-activation {
  background: var(--nbt-activation);
}

.nbt-other {
  background: var(--nbt-other);
}

.nbt-legend {
  display: grid;
  font-size: 12px;
  gap: 2px 18px;
  grid-template-columns: repeat(auto-fill, minmax(150px, 1fr));
  list-style: none;
  margin: 0;
  padding: 0;
}

.nbt-legend li {
  align-items: center;
  display: flex;
}

.nbt-legend li .nbt-number {
  margin-left: auto;
}

.nbt-plot {
  min-height: 190px;
}

.nbt-plot-foot {
  align-items: center;
  color: var(--jp-ui-font-color2);
  display: flex;
  font-size: 11px;
  justify-content: space-between;
  min-height: 18px;
}

.nbt-check {
  align-items: center;
  cursor: pointer;
  display: inline-flex;
  gap: 4px;
  margin-left: auto;
}

.nbt-check input {
  margin: 0;
}

.nbt-title {
  display: flex;
  font-size: 12px;
  font-weight: 600;
  gap: 8px;
  margin: 6px 0 2px;
}

.nbt-title .nbt-soft {
  font-weight: 400;
}

.nbt-share {
  background: linear-gradient(
      to left,
      color-mix(in srgb, var(--jp-brand-color1) 22%, transparent) var(--nbt-share, 0%),
      transparent var(--nbt-share, 0%)
    )
    content-box;
}

/* uPlot's own layout rules (MIT, Leon Sorokin), kept inside our root. */
.nbt-plot .uplot {
  font-family: inherit;
  line-height: 1.5;
  width: min-content;
}

.nbt-plot .u-wrap {
  position: relative;
  user-select: none;
}

.nbt-plot .u-over,
.nbt-plot .u-under {
  position: absolute;
}

.nbt-plot .u-under {
  overflow: hidden;
}

.nbt-plot .uplot canvas {
  display: block;
  height: 100%;
  position: relative;
  width: 100%;
}

.nbt-plot .u-axis {
  position: absolute;
}

.nbt-plot .u-select {
  background: color-mix(in srgb, var(--jp-ui-font-color1) 10%, transparent);
  pointer-events: none;
  position: absolute;
}

.nbt-plot .u-cursor-x,
.nbt-plot .u-cursor-y {
  left: 0;
  pointer-events: none;
  position: absolute;
  top: 0;
}

.nbt-plot .u-hz .u-cursor-x {
  border-right: 1px dashed var(--jp-ui-font-color2);
  height: 100%;
}

.nbt-plot .u-hz .u-cursor-y {
  display: none;
}

.nbt-plot .u-off {
  display: none;
}

.nbt-note {
  font-size: 12px;
  margin: 0;
}

.nbt-pad {
  display: block;
  margin: -4px -6px;
  padding: 4px 6px;
}

.nbt-rank::before {
  background: var(--nbt-other);
  border-radius: 50%;
  content: '';
  display: inline-block;
  height: 8px;
  margin-right: 6px;
  width: 8px;
}

.nbt-rank-busy::before {
  background: var(--nbt-parameter);
}

.nbt-rank-waiting::before,
.nbt-rank-starting::before {
  background: var(--nbt-gradient);
}

.nbt-rank-dead::before {
  background: var(--jp-error-color1);
}
`,""]),n.d(o,{},{A:i})},314(t){t.exports=function(t){var o=[];return o.toString=function(){return this.map(function(o){var n="",r=void 0!==o[5];return o[4]&&(n+="@supports (".concat(o[4],") {")),o[2]&&(n+="@media ".concat(o[2]," {")),r&&(n+="@layer".concat(o[5].length>0?" ".concat(o[5]):""," {")),n+=t(o),r&&(n+="}"),o[2]&&(n+="}"),o[4]&&(n+="}"),n}).join("")},o.i=function(t,n,r,e,a){"string"==typeof t&&(t=[[null,t,void 0]]);var i={};if(r)for(var p=0;p<this.length;p++){var l=this[p][0];null!=l&&(i[l]=!0)}for(var b=0;b<t.length;b++){var s=[].concat(t[b]);r&&i[s[0]]||(void 0!==a&&(void 0===s[5]||(s[1]="@layer".concat(s[5].length>0?" ".concat(s[5]):""," {").concat(s[1],"}")),s[5]=a),n&&(s[2]&&(s[1]="@media ".concat(s[2]," {").concat(s[1],"}")),s[2]=n),e&&(s[4]?(s[1]="@supports (".concat(s[4],") {").concat(s[1],"}"),s[4]=e):s[4]="".concat(e)),o.push(s))}},o}},982(t){t.exports=function(t){return t[1]}},72(t){var o=[];function n(t){for(var n=-1,r=0;r<o.length;r++)if(o[r].identifier===t){n=r;break}return n}function r(t,r){for(var e={},a=[],i=0;i<t.length;i++){var p=t[i],l=r.base?p[0]+r.base:p[0],b=e[l]||0,s="".concat(l," ").concat(b);e[l]=b+1;var d=n(s),c={css:p[1],media:p[2],sourceMap:p[3],supports:p[4],layer:p[5]};if(-1!==d)o[d].references++,o[d].updater(c);else{var u=function(t,o){var n=o.domAPI(o);return n.update(t),function(o){o?(o.css!==t.css||o.media!==t.media||o.sourceMap!==t.sourceMap||o.supports!==t.supports||o.layer!==t.layer)&&n.update(t=o):n.remove()}}(c,r);r.byIndex=i,o.splice(i,0,{identifier:s,updater:u,references:1})}a.push(s)}return a}t.exports=function(t,e){var a=r(t=t||[],e=e||{});return function(t){t=t||[];for(var i=0;i<a.length;i++){var p=n(a[i]);o[p].references--}for(var l=r(t,e),b=0;b<a.length;b++){var s=n(a[b]);0===o[s].references&&(o[s].updater(),o.splice(s,1))}a=l}}},659(t){var o={};t.exports=function(t,n){var r=function(t){if(void 0===o[t]){var n=document.querySelector(t);if(window.HTMLIFrameElement&&n instanceof window.HTMLIFrameElement)try{n=n.contentDocument.head}catch(t){n=null}o[t]=n}return o[t]}(t);if(!r)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");r.appendChild(n)}},540(t){t.exports=function(t){var o=document.createElement("style");return t.setAttributes(o,t.attributes),t.insert(o,t.options),o}},56(t,o,n){t.exports=function(t){var o=n.nc;o&&t.setAttribute("nonce",o)}},825(t){t.exports=function(t){if("u"<typeof document)return{update:function(){},remove:function(){}};var o=t.insertStyleElement(t);return{update:function(n){var r,e,a;r="",n.supports&&(r+="@supports (".concat(n.supports,") {")),n.media&&(r+="@media ".concat(n.media," {")),(e=void 0!==n.layer)&&(r+="@layer".concat(n.layer.length>0?" ".concat(n.layer):""," {")),r+=n.css,e&&(r+="}"),n.media&&(r+="}"),n.supports&&(r+="}"),(a=n.sourceMap)&&"u">typeof btoa&&(r+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(a))))," */")),t.styleTagTransform(r,o,t.options)},remove:function(){var t;null===(t=o).parentNode||t.parentNode.removeChild(t)}}}},113(t){t.exports=function(t,o){if(o.styleSheet)o.styleSheet.cssText=t;else{for(;o.firstChild;)o.removeChild(o.firstChild);o.appendChild(document.createTextNode(t))}}},959(t,o,n){var r=n(72),e=n.n(r),a=n(825),i=n.n(a),p=n(659),l=n.n(p),b=n(56),s=n.n(b),d=n(540),c=n.n(d),u=n(113),f=n.n(u),x=n(646),g={};g.styleTagTransform=f(),g.setAttributes=s(),g.insert=l().bind(null,"head"),g.domAPI=i(),g.insertStyleElement=c(),e()(x.A,g),x.A&&x.A.locals&&x.A.locals}}]);