"""What LearnedSimulationTests expect: the same jobs, without the library. Prints what is done, refused and the seconds, with learned
reservations and with each job reserving its peak: python3 LearnedSimulation.py"""
def lcg(seed):
    x=seed
    while True:
        x=(1103515245*x+12345)%2**31
        yield x>>16
def claim(seen,b):
    n=len(seen); s=sorted(seen[-64:]); p=s[int(len(s)*.97)] if s else 0
    most=b*(.6 if n else .75)
    return min(b, p if n>=64 else max(p,most) if n<8 else max(p,min(p*(1+16/n),most)))
def size(seen,b):
    s=sorted(seen[-64:]); return min(b,s[int(len(s)*.5)]) if s else claim(seen,b)
def run(n,budget,seed,retries=False,doubles=False,peaks=(24,24,44,60,60,150),cores=2,explicit=False):
    g=lcg(seed); t=0.0; used=0; dt=.004
    jobs=[dict(id=i,at=0.0,peak=peaks[next(g)%len(peaks)],held=0,res=0,work=0.0,state='new',tries=0) for i in range(n)]
    if doubles:
        for j in jobs: j['peak']=min(budget*3//4,j['peak']*(2 if j['id']>=n//2 else 1)); 
    seen=[]; done=refused=0; end=0; serial=0; first=None
    charged=lambda j: max(j['held'],j['res'])
    def leaving(j,after):
        nonlocal first
        if explicit: return 0
        if first is not None and first['state'] not in('run','want'): first=None
        m=claim(seen,budget); own=max(0,m-after)
        return own if first is None or first is j else min(own,max(0,m-charged(first)))
    def grow(j,keep):
        nonlocal used,first
        c=charged(j); c2=max(j['held']+4,j['res'])
        if used+c2-c+(leaving(j,c2) if keep and c2>c else 0)>budget: return False
        used+=c2-c; j['held']+=4; j['work']=.008; j['state']='run'
        if c2>c and (first is None or charged(first)<c2): first=j
        return True
    while any(j['state'] not in('done','fail') for j in jobs):
        run_=[j for j in jobs if j['state']=='run']; share=min(1,cores/max(1,len(run_)))*dt
        for j in run_:
            j['work']-=share
            if j['work']<=0:
                if j['held']<j['peak']: j['state']='want'
                elif not j['fin']: j['fin']=1; j['work']=j['peak']/4*.008*.3
                else: used-=max(j['held'],j['res']); seen.append(j['peak']); j['state']='done'; done+=1; end=t
        blocked=False
        for j in sorted([j for j in jobs if j['state']=='want'],key=lambda j:j['serial']):
            if not grow(j,True): blocked=True
        if not blocked:
            for j in jobs:
                if j['state']=='new' and j['at']<=t:
                    e=j['peak'] if explicit else size(seen,budget)
                    if used+e+leaving(j,e)<=budget: used+=e; j['res']=e; j['held']=0; j['fin']=0; serial+=1; j['serial']=serial; j['state']='run'; j['work']=0
                    else: break
        h=[j for j in jobs if j['state'] in('run','want')]
        if h and all(j['state']=='want' for j in h) and not any([grow(j,False) for j in sorted(h,key=lambda j:j['serial'])]):
            y=max(h,key=lambda j:j['serial']); used-=max(y['held'],y['res']); seen.append(max(y['held'],y['res'])+4); refused+=1
            y['held']=0; y['res']=0
            if retries and y['tries']<3: y['tries']+=1; y['state']='new'; y['at']=t+1
            else: y['state']='fail'
        t+=dt
    return done,refused,end
if __name__=='__main__':
    for n,b,s,r,d in ((64,170,1,0,0),(64,200,2,0,0),(64,256,3,0,0),(64,170,4,1,0),(64,200,5,1,1),(64,170,6,0,1),(64,200,11,1,1),(64,200,11,0,1)):
        x=run(n,b,s,r,d); e=run(n,b,s,explicit=True,doubles=d); print(n,b,s,r,d,x,e)
