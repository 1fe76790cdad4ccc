"""memmap: the memory map over time on the HTML page, from records "LAB mapzone" and "LAB map".

One picture a side, a cell a pageblock, and one slider for all of them; below each what memory held
over time. The script is on the page and reads nothing but the page. user/lab/map.c says how a block
is coded; here the same in Python (decode) and in the page (SCRIPT).
"""
import json

from . import svg
from .svg import esc

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
# name, css class; in the order of a code's digits
PARTS = [("free", "free"), ("programs", "anon"), ("files", "file"), ("shared memory", "shm"),
         ("dirty or written", "dirty"), ("kernel", "kern"), ("reserved", "rsv"), ("huge", "huge"),
         ("pinned", "pin")]
TYPES = {"U": "Unmovable", "R": "Reclaimable", "M": "Movable", "V": "Reserve", "I": "Isolate"}
AREAS = ["kernel", "programs", "shared memory", "files", "free"]        # from below
MAX_FRAMES = 600

STYLE = """
:root{--m-anon:#3b82f6;--m-file:#5aa85a;--m-shm:#14a3a8;--m-dirty:#b44fc4;--m-kern:#d97706;--m-rsv:#9aa0a6;
--m-free:#e9e6de;--t-M:#e9e6de;--t-U:#f3c6c0;--t-R:#efe0a8;--t-V:#c9d2f0;--t-I:#e3c8ef;--m-cursor:#1d2126}
@media (prefers-color-scheme:dark){:root{--m-anon:#4d9bf5;--m-file:#6cbf6c;--m-shm:#3cc4c9;--m-dirty:#cf6fe0;
--m-kern:#f59e0b;--m-rsv:#7b828a;--m-free:#262b30;--t-M:#262b30;--t-U:#5a1f1c;--t-R:#524a17;--t-V:#1f2a5c;
--t-I:#4a1f5c;--m-cursor:#f4f4f4}}
.memmap{margin:1rem 0}
.memmap .bar{display:flex;align-items:center;gap:.8rem;flex-wrap:wrap;margin:.4rem 0}
.memmap input[type=range]{flex:1;min-width:12rem;accent-color:var(--s2)}
.memmap button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--rule);border-radius:6px;
padding:.15rem .8rem;cursor:pointer}
.memmap output{min-width:6rem;text-align:right;font-variant-numeric:tabular-nums}
.memmap figure{margin:.6rem 0;position:relative}
.memmap figcaption{font-size:.9rem;color:var(--soft);display:flex;justify-content:space-between;gap:1rem}
.memmap canvas{display:block;width:100%;image-rendering:pixelated}
.memmap .tell{min-height:1.5em;font-size:.86rem;color:var(--soft);font-variant-numeric:tabular-nums}
.memmap .area{stroke:none}.memmap .now{stroke:var(--m-cursor);stroke-width:1.2}
.memmap .anon{fill:var(--m-anon)}.memmap .file{fill:var(--m-file)}.memmap .shm{fill:var(--m-shm)}
.memmap .dirty{fill:var(--m-dirty)}.memmap .kern{fill:var(--m-kern)}.memmap .free{fill:var(--m-free)}
.sw{display:inline-block;width:.85em;height:.85em;border-radius:2px;margin-right:.35em;vertical-align:-.05em}
@media print{.memmap .bar{display:none}}
"""

SCRIPT = r"""
(function(){"use strict";
var DIGITS="@DIGITS@",TYPES=@TYPES@,PARTS=@PARTS@;
/* Frames as arrays of codes: each frame is the one before with its changes. */
function unfold(panel){
  var states=[],now={};
  panel.frames.forEach(function(f){
    var next=Object.assign({},now);
    if(f[1])f[1].split(",").forEach(function(x){var i=x.indexOf(":");next[x.slice(0,i)]=x.slice(i+1);});
    states.push(next);now=next;
  });
  return states;
}
function parts(code){
  var v=[];
  for(var i=2;i<code.length;i++){var n=DIGITS.indexOf(code[i]);v.push(n===63?512:n*8);}
  return v;
}
/* What most of the used part is: an index into PARTS, 0 for nothing. */
function mainPart(v){
  var best=0,most=0;
  for(var i=1;i<=6;i++)if(i!==4&&v[i]>most){most=v[i];best=i;}
  if(best===2&&2*v[4]>=most)best=4;
  return best;
}
function frameAt(frames,t){
  var lo=0,hi=frames.length-1;
  while(lo<hi){var mid=(lo+hi+1)>>1;if(frames[mid][0]<=t+1e-9)lo=mid;else hi=mid-1;}
  return lo;
}
function layout(zones,perRow){
  var place={},y=0,rows=[];
  zones.forEach(function(z){
    var first=z.first-z.first%perRow;
    rows.push({y:y,name:"Node "+z.node+" "+z.name,blocks:z.blocks});
    y+=1;
    for(var b=z.first;b<z.first+z.blocks;b++){
      if(!(b in place))place[b]={x:(b-first)%perRow,y:y+Math.floor((b-first)/perRow)};
    }
    y+=Math.ceil((z.first+z.blocks-first)/perRow);
  });
  return{place:place,height:y,titles:rows};
}
function colours(){
  var s=getComputedStyle(document.documentElement),c={};
  ["anon","file","shm","dirty","kern","rsv","free","cursor"].forEach(function(n){c[n]=s.getPropertyValue("--m-"+n).trim();});
  "MURVI".split("").forEach(function(n){c["t"+n]=s.getPropertyValue("--t-"+n).trim();});
  c.ink=s.getPropertyValue("--ink").trim();
  return c;
}
function Panel(data,root){
  this.data=data;this.states=unfold(data);this.canvas=root.querySelector("canvas");
  this.time=root.querySelector(".when");this.line=root.querySelector(".now");this.chosen=-1;this.at=0;
  var self=this;
  this.canvas.addEventListener("mousemove",function(e){self.chosen=self.blockAt(e);self.draw();});
  this.canvas.addEventListener("mouseleave",function(){self.chosen=-1;self.draw();});
  this.tell=root.querySelector(".tell");
}
Panel.prototype.fit=function(){
  var width=this.canvas.clientWidth||900,count=0,dpr=window.devicePixelRatio||1;
  this.data.zones.forEach(function(z){count+=z.blocks;});
  this.perRow=count>2048?128:count>64?64:32;
  this.cell=Math.max(3,Math.floor(width/this.perRow));
  this.lay=layout(this.data.zones,this.perRow);
  this.canvas.width=Math.round(this.cell*this.perRow*dpr);
  this.canvas.height=Math.round(this.cell*this.lay.height*dpr);
  this.canvas.style.width=this.cell*this.perRow+"px";
  this.canvas.style.height=this.cell*this.lay.height+"px";
  this.dpr=dpr;
};
Panel.prototype.blockAt=function(e){
  var r=this.canvas.getBoundingClientRect(),x=Math.floor((e.clientX-r.left)/this.cell),
      y=Math.floor((e.clientY-r.top)/this.cell),p=this.lay.place;
  for(var b in p)if(p[b].x===x&&p[b].y===y)return+b;
  return-1;
};
Panel.prototype.draw=function(){
  var g=this.canvas.getContext("2d"),c=colours(),s=this.cell,state=this.states[this.at],self=this;
  if(!g)return;
  g.setTransform(this.dpr,0,0,this.dpr,0,0);
  g.clearRect(0,0,this.canvas.width,this.canvas.height);
  g.font=Math.max(9,Math.min(s-2,12))+"px system-ui,sans-serif";g.fillStyle=c.ink;g.textBaseline="bottom";
  this.lay.titles.forEach(function(t){g.fillText(t.name,0,(t.y+1)*s-1);});
  for(var b in state){
    var at=self.lay.place[b],code=state[b];
    if(!at)continue;
    var v=parts(code),used=v[1]+v[2]+v[3]+v[5]+v[6],all=Math.max(used+v[0],1),
        room=s>7?s-3:s-1,h=used?Math.max(1,Math.round(room*Math.min(used/all,1))):0,m=mainPart(v),x=at.x*s,y=at.y*s;
    g.fillStyle=c["t"+code[0]]||c.free;g.fillRect(x,y,s-1,s-1);
    if(h){
      g.fillStyle=c[PARTS[m][1]]||c.rsv;g.fillRect(x,y+s-1-h,s-1,h);
      if(v[7]){g.strokeStyle=c.cursor;g.lineWidth=1;g.strokeRect(x+1.5,y+1.5,s-4,s-4);}
      if(v[8]&&s>5){g.fillStyle=c.cursor;g.fillRect(x+s-4,y+1,2,2);}
    }
    if(+b===self.chosen){g.strokeStyle=c.cursor;g.lineWidth=2;g.strokeRect(x,y,s-1,s-1);}
  }
  this.time.textContent="at "+this.data.frames[this.at][0].toFixed(3)+" s";
  this.say(state);
};
Panel.prototype.say=function(state){
  var code=state[this.chosen],text="";
  if(code){
    var v=parts(code),list=[];
    PARTS.forEach(function(p,i){if(v[i])list.push(p[0]+" ~"+v[i]);});
    text="block "+this.chosen+" at "+2*this.chosen+" MiB, "+(TYPES[code[0]]||"?")+": "+list.join(", ")+" pages"+
      (code[1]==="-"?"; nothing free":"; largest free block: order "+parseInt(code[1],16));
  }
  this.tell.textContent=text;
};
Panel.prototype.show=function(t){
  this.at=frameAt(this.data.frames,t);
  if(this.line){
    var x=+this.line.getAttribute("data-a")+(+this.line.getAttribute("data-b")-+this.line.getAttribute("data-a"))*
      Math.min(t/(+this.line.getAttribute("data-t")||1),1);
    this.line.setAttribute("x1",x);this.line.setAttribute("x2",x);
  }
  this.draw();
};
function start(root){
  var data=JSON.parse(root.querySelector("script[type='application/json']").textContent),
      panels=data.map(function(d,i){return new Panel(d,root.querySelectorAll("figure")[i]);}),
      slider=root.querySelector("input"),out=root.querySelector("output"),button=root.querySelector("button"),
      last=Math.max.apply(null,data.map(function(d){return d.frames[d.frames.length-1][0];})),timer=null;
  slider.max=1000;slider.value=0;
  function show(){
    var t=last*slider.value/1000;
    out.textContent=t.toFixed(2)+" s";
    panels.forEach(function(p){p.show(t);});
  }
  function stop(){clearInterval(timer);timer=null;button.textContent="play";}
  button.addEventListener("click",function(){
    if(timer){stop();return;}
    if(+slider.value>=1000)slider.value=0;
    button.textContent="stop";
    timer=setInterval(function(){
      slider.value=+slider.value+5;show();
      if(+slider.value>=1000)stop();
    },50);
  });
  slider.addEventListener("input",show);
  function fit(){panels.forEach(function(p){p.fit();});show();}
  window.addEventListener("resize",fit);
  if(window.matchMedia)window.matchMedia("(prefers-color-scheme:dark)").addEventListener("change",show);
  fit();
  return{slider:slider,panels:panels,show:show};
}
window.memmaps=Array.prototype.map.call(document.querySelectorAll(".memmap"),start);
})();
"""


def decode(code):
    """A block's code as {part: pages}, "type" and "largest" (order of a free block, None)."""
    out = {name: (512 if d == "-" else DIGITS.index(d) * 8) for (name, _), d in zip(PARTS, code[2:])}
    out["type"], out["largest"] = TYPES.get(code[0], "?"), None if code[1] == "-" else int(code[1], 16)
    return out


def frames(run):
    """[(t, "17:code,18:code")]: the records of one look joined; at most MAX_FRAMES, evenly thinned."""
    out = []
    for record in run.maps:
        if out and out[-1][0] == record["t"]:
            out[-1][1].append(record["b"])
        else:
            out.append((record["t"], [record["b"]]))
    out = [(t, ",".join(parts)) for t, parts in out]
    step = -(-len(out) // MAX_FRAMES) if out else 1
    joined = []
    for i in range(0, len(out), step):
        changes = {}
        for _, text in out[i:i + step]:
            changes.update(x.split(":") for x in text.split(","))
        joined.append((out[min(i + step, len(out)) - 1][0],
                       ",".join(f"{b}:{code}" for b, code in changes.items())))
    return joined


def sums(looks):
    """[(t, {part: pages over all blocks})] of frames()."""
    state, out = {}, []
    total = {name: 0 for name, _ in PARTS}
    for t, text in looks:
        for item in text.split(","):
            block, code = item.split(":")
            for name, pages in decode(state[block]).items() if block in state else ():
                if name in total:
                    total[name] -= pages
            state[block] = code
            for name, pages in decode(code).items():
                if name in total:
                    total[name] += pages
        out.append((t, dict(total)))
    return out


def areas(looks):
    """What memory held over time, one on top of the other, with a line for the slider's place."""
    series = sums(looks)
    width, height, left, bottom = 920, 120, 52, 18
    last = series[-1][0] or 1
    top = max(sum(s[name] for name in AREAS) for _, s in series) or 1
    x = svg.Axis(0, last, left, width - 6)
    y = svg.Axis(0, top, height - bottom, 6)
    css = dict(PARTS)
    out = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="what memory held over time">']
    below = [0] * len(series)
    for name in AREAS:
        above = [b + s[name] for b, (_, s) in zip(below, series)]
        points = [f"{x.at(t):.1f},{y.at(v):.1f}" for (t, _), v in zip(series, above)]
        points += [f"{x.at(t):.1f},{y.at(v):.1f}" for (t, _), v in reversed(list(zip(series, below)))]
        out.append(f'<polygon class="area {css[name]}" points="{" ".join(points)}"><title>{esc(name)}</title>'
                   "</polygon>")
        below = above
    for mark in svg.ticks(0, last):
        out.append(f'<text class="tick" x="{x.at(mark):.1f}" y="{height - 4}" text-anchor="middle">'
                   f"{svg.compact(mark)}</text>")
    for mark in svg.ticks(0, top / 256, 3):
        out.append(f'<text class="tick" x="{left - 5}" y="{y.at(mark * 256) + 3:.1f}" text-anchor="end">'
                   f"{svg.compact(mark)} MiB</text>")
    out.append(f'<line class="now" x1="{left}" x2="{left}" y1="4" y2="{height - bottom}" data-a="{left}" '
               f'data-b="{width - 6}" data-t="{last}"/></svg>')
    return "".join(out)


def legend():
    marks = [f'<span><span class="sw" style="background:var(--m-{css})"></span>{esc(name)}</span>'
             for name, css in PARTS if css not in ("free", "huge", "pin")]
    marks += [f'<span><span class="sw" style="background:var(--t-{t})"></span>{name.lower()}</span>'
              for t, name in TYPES.items()]
    return ('<div class="legend">' + "".join(marks) + "<span>filled as high as in use; background: the "
            "block's migrate type; frame: huge, dot: pinned</span></div>")


def component(runs):
    """runs: [(title, records.Run)]; "" when none of them has a map."""
    runs = [(title, run, frames(run)) for title, run in runs if run.maps]
    if not runs:
        return ""
    data = [{"zones": run.mapzones, "frames": looks} for _, run, looks in runs]
    figures = [f'<figure><figcaption><span>{esc(title)}</span><span class="when"></span></figcaption><canvas></canvas>'
               f'<div class="tell"></div>{areas(looks)}</figure>' for title, _, looks in runs]
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return ('<div class="memmap"><div class="bar"><button type="button">play</button>'
            '<input type="range" min="0" max="1000" value="0" aria-label="time"><output></output></div>'
            + legend() + "".join(figures) + f'<script type="application/json">{text}</script></div>')


def style():
    return STYLE


def script():
    """Once, behind every component of the page."""
    text = (SCRIPT.replace("@DIGITS@", DIGITS).replace("@TYPES@", json.dumps(TYPES))
            .replace("@PARTS@", json.dumps(PARTS)))
    return f"<script>{text}</script>"


def sections(results, part_names):
    """The page's sections: for each part the first run of each side that has a map."""
    out = []
    for part, name in part_names:
        runs, done = [], set()
        for r in results:
            if r.job.part == part and r.job.side not in done and not r.error and not r.job.twin \
                    and r.run.maps:
                done.add(r.job.side)
                runs.append((r.job.side, r.run))
        body = component([(f"side {side}", run) for side, run in sorted(runs, key=lambda x: x[0])])
        if body:
            out.append(f"<h2>Memory over time: {esc(name)}</h2><p class=soft>Every cell is a pageblock of 2 MiB. "
                       f"Move the slider; point at a block to read it.</p>{body}")
    return "\n".join(out) + (script() if out else "")
