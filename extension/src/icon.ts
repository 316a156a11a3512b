/** Three nodes of a graph, in the colour of other sidebar icons. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 24 24">
<g class="jp-icon3" fill="#616161"><path d="M6.3 7.4 11 15.6l1.6-1L7.9 6.5z"/><path d="m16.1 6.5-4.7 8.1 1.6 1 4.7-8.2z"/>
<circle cx="6" cy="5.5" r="3.2"/><circle cx="18" cy="5.5" r="3.2"/><circle cx="12" cy="17.8" r="4"/></g></svg>`;

export default icon;
